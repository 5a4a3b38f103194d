"""Tables held by the workers of a cluster, one partition each.

Workers return sums, and a sample of at most 65,536 rows or codes that guides a solver. Noise, the linear term, iterates and keys exist on the driver only. The question of a pass is deleted after the pass,
and the rows held by workers after the release. Ray and Spark are imported only when one is used.
"""
