"""Tables that workers of a cluster hold, a partition each: they answer sums, and nothing else leaves them.

The driver alone has noise, the linear term, iterates and keys. What it asks for a pass is gone when the pass is over, and what a
worker held, when the release is made. Ray and Spark are loaded where one is opened.
"""
