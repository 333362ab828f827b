"""Danger signs in what a person says: caught from their own words, kept as events, reviewed by people, told to those who look after them."""
