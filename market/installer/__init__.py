"""Roots, intents, the transaction, receipts."""
