#!/bin/sh
cat
