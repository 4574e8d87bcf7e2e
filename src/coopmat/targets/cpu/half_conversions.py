"""What LLVM calls to convert fp16 numbers where the processor has no instructions for it (F16C)."""

from __future__ import annotations

from collections.abc import Set

FEATURE = "f16c"

FUNCTIONS = """
define float @__extendhfsf2(half %x) nounwind {
  ; The exponent field is 112 too low after the shift: a factor makes up for it, of subnormal numbers, too.
  %half = bitcast half %x to i16
  %bits = zext i16 %half to i32
  %sign = shl i32 %bits, 16
  %sign.bit = and i32 %sign, -2147483648
  %magnitude = and i32 %bits, 32767
  %shifted = shl i32 %magnitude, 13
  %low = bitcast i32 %shifted to float
  %number = fmul float %low, bitcast (i32 2004877312 to float)
  %finite = bitcast float %number to i32
  %is.nan = icmp ugt i32 %magnitude, 31744
  %quiet = select i1 %is.nan, i32 2143289344, i32 2139095040
  %special = or i32 %shifted, %quiet
  %is.special = icmp uge i32 %magnitude, 31744
  %chosen = select i1 %is.special, i32 %special, i32 %finite
  %whole = or i32 %chosen, %sign.bit
  %result = bitcast i32 %whole to float
  ret float %result
}

define half @__truncsfhf2(float %x) nounwind {
  %bits = bitcast float %x to i32
  %high = lshr i32 %bits, 16
  %sign = and i32 %high, 32768
  %magnitude = and i32 %bits, 2147483647
  ; Normal numbers: to nearest, ties to even, and the exponent field lowered by 112.
  %cut = lshr i32 %magnitude, 13
  %odd = and i32 %cut, 1
  %lowered = sub i32 %magnitude, 939524096
  %raised = add i32 %lowered, 4095
  %rounded = add i32 %raised, %odd
  %normal = lshr i32 %rounded, 13
  ; Subnormal ones: beside 0.5 a float counts in steps of 2**-24, as they do.
  %absolute = bitcast i32 %magnitude to float
  %beside = fadd float %absolute, 0.5
  %steps = bitcast float %beside to i32
  %subnormal = sub i32 %steps, 1056964608
  %is.small = icmp ult i32 %magnitude, 947912704
  %finite = select i1 %is.small, i32 %subnormal, i32 %normal
  %is.large = icmp uge i32 %magnitude, 1199566848
  %limited = select i1 %is.large, i32 31744, i32 %finite
  %payload = and i32 %cut, 1023
  %nan = or i32 %payload, 32256
  %is.nan = icmp ugt i32 %magnitude, 2139095040
  %chosen = select i1 %is.nan, i32 %nan, i32 %limited
  %whole = or i32 %chosen, %sign
  %narrow = trunc i32 %whole to i16
  %result = bitcast i16 %narrow to half
  ret half %result
}
"""


def half_conversions(features: Set[str]) -> str:
    """The functions that code for a processor with these features needs."""
    return "" if FEATURE in features else FUNCTIONS
