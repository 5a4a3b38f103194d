"""Conversion of raw records to rows of norm ≤ R by the public schema of the columns and public feature maps.

Nothing is fitted to data.
"""
