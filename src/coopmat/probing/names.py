"""The properties that are probed."""

ALIKE = "elements computed alike"
ORDER = "order of summation"
AT_ONCE = "products added at once"
PRODUCTS = "products"
KEPT = "fraction bits kept in alignment"
CUT = "rounding of aligned terms"
ALIGNED_AT = "alignment of products"
QUANTUM = "least quantum of aligned terms"
PARTIAL = "partial sums"
RESULT = "rounding of the result"
ACCUMULATOR = "C wider than D"
TF32 = {"A": "unused bits of tf32 in A", "B": "unused bits of tf32 in B"}
TF32_NAN = "tf32 NaN by unused bits only"
SUBNORMAL = {"A": "subnormal A", "B": "subnormal B", "C": "subnormal C", "products": "subnormal products",
             "D": "subnormal D"}
NEGATIVE_ZEROS = "sum of negative zeros"
DIFFERENCE = "x - x"
UNDERFLOW = "negative sum that rounds to zero"
INFINITY = "infinite operands"
OVERFLOW = "sum beyond the largest number"
PRODUCT_OVERFLOW = "products beyond it that cancel"
PARTIAL_OVERFLOW = "partial sums beyond it that cancel"
ZERO_TIMES_INFINITY = "infinity times zero"
INFINITIES = "infinity minus infinity"
QUIET = {"A": "NaN in A", "B": "NaN in B", "C": "NaN in C"}
SIGNALLING = {"A": "signalling NaN in A", "C": "signalling NaN in C"}
WINS = {"AB": "NaN in A and B", "AC": "NaN in A and C", "p0 p2": "NaN in p0 and p2"}
SIGN = {"A": "elements of A", "B": "elements of B"}
EXACT = "sum of products"
ABOVE = "sum above the largest number"
BELOW = "sum below the smallest number"

IN_ORDER = (
    ALIKE, *SIGN.values(), EXACT, ABOVE, BELOW,
    ORDER, AT_ONCE, PRODUCTS, KEPT, CUT, ALIGNED_AT, QUANTUM, PARTIAL, RESULT, ACCUMULATOR, *TF32.values(),
    *SUBNORMAL.values(), NEGATIVE_ZEROS, DIFFERENCE, UNDERFLOW, OVERFLOW, PRODUCT_OVERFLOW, PARTIAL_OVERFLOW,
    INFINITY, ZERO_TIMES_INFINITY, INFINITIES, *QUIET.values(), *SIGNALLING.values(), *WINS.values(), TF32_NAN)
"""All properties as reports list them."""
