"""The index's own protocol, `/v1`; its documents are described in `market.client.wire`."""
