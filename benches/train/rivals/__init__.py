"""The same networks in other people's words. Each module has FORMS, the ways that may be the fastest
for a network, and `prepare(setting, form)`: a function that trains a number of passes over the
batches made beforehand and waits for the last, and the rival's version."""
