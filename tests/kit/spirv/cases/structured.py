"""Cases of the family structured: control flow of shader modules."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, shader, valid

UNDEFINED = "%c = OpUndef %bool\n%s = OpUndef %uint\n"
LOOP = """OpBranch %loop
%loop = OpLabel
OpLoopMerge %end %next None
OpBranch %body
%body = OpLabel
{body}
%next = OpLabel
{next}
%end = OpLabel"""


def flow(text: str) -> str:
    """A shader of these blocks; ``%c`` is a condition and ``%s`` a selector."""
    return shader(UNDEFINED + text)


def converging(text: str) -> str:
    """The same, with maximal reconvergence."""
    return shader(UNDEFINED + text, extensions="SPV_KHR_maximal_reconvergence",
                  modes="OpExecutionMode %main LocalSize 1 1 1\nOpExecutionMode %main MaximallyReconvergesKHR")


def selection(then: str = "OpBranch %end", other: str = "OpBranch %end",
              merge: str = "OpSelectionMerge %end None") -> str:
    return flow(f"{merge}\nOpBranchConditional %c %then %else\n%then = OpLabel\n{then}\n%else = OpLabel\n{other}\n"
                "%end = OpLabel")


def loop(body: str = "OpBranchConditional %c %next %end", back: str = "OpBranch %loop") -> str:
    return flow(LOOP.format(body=body, next=back))


def nested(depth: int) -> str:
    """Selections within each other."""
    opened = "".join(f"OpSelectionMerge %m{i} None\nOpBranchConditional %c %t{i} %m{i}\n%t{i} = OpLabel\n"
                     for i in range(depth))
    closed = "".join(f"OpBranch %m{i}\n%m{i} = OpLabel\n" for i in reversed(range(depth)))
    return flow(opened + closed)


SWITCH = """OpSelectionMerge %end None
OpSwitch %s %default 1 %one 2 %two
%one = OpLabel
{one}
%two = OpLabel
OpBranch %end
%default = OpLabel
OpBranch %end
%end = OpLabel"""

CASES = [
    valid("a selection", selection()),
    valid("a selection whose sides return", selection("OpReturn", "OpReturn")),
    valid("a branch to one block", flow("OpBranchConditional %c %a %a\n%a = OpLabel")),
    valid("a kernel needs no merge instructions",
          kernel(UNDEFINED + "OpBranchConditional %c %a %b\n%a = OpLabel\nOpBranch %e\n%b = OpLabel\nOpBranch %e\n"
                 "%e = OpLabel")),
    broken("structured-selection", "a branch without merge", selection(merge=""), says="needs an OpSelectionMerge"),
    broken("structured-selection", "a switch without merge",
           flow("OpSwitch %s %end 1 %one\n%one = OpLabel\nOpBranch %end\n%end = OpLabel"),
           says="needs an OpSelectionMerge"),
    valid("a switch", flow(SWITCH.format(one="OpBranch %end"))),
    valid("a case that goes on with the next one", flow(SWITCH.format(one="OpBranch %two"))),
    valid("a loop that breaks", loop()),
    valid("a branch without merge that leaves the loop or goes on with it",
          loop("OpBranchConditional %c %next %more\n%more = OpLabel\nOpBranchConditional %c %next %end")),
    broken("structured-dominance", "a merge block that a block before the header reaches, too",
           flow("OpSelectionMerge %out None\nOpBranchConditional %c %h %end\n%h = OpLabel\nOpSelectionMerge %end None\n"
                "OpBranchConditional %c %then %end\n%then = OpLabel\nOpBranch %end\n%end = OpLabel\nOpBranch %out\n"
                "%out = OpLabel"), says="does not dominate its merge block"),
    broken("structured-dominance", "a continue target that a block before the loop reaches",
           flow("OpSelectionMerge %out None\nOpBranchConditional %c %loop %next\n%loop = OpLabel\n"
                "OpLoopMerge %end %next None\nOpBranch %body\n%body = OpLabel\nOpBranchConditional %c %next %end\n"
                "%next = OpLabel\nOpBranch %loop\n%end = OpLabel\nOpBranch %out\n%out = OpLabel"),
           says="does not dominate its continue target"),
    broken("structured-loops", "an edge back to no loop header",
           flow("OpBranch %h\n%h = OpLabel\nOpSelectionMerge %end None\nOpBranchConditional %c %h %end\n"
                "%end = OpLabel"),
           says="no loop header"),
    broken("structured-loops", "a loop that nothing goes back to", loop(back="OpBranch %end"), says="0 blocks"),
    broken("structured-loops", "a loop that two blocks go back to", loop("OpBranchConditional %c %next %loop"),
           says="2 blocks"),
    broken("structured-loops", "a continue construct that may end otherwise",
           loop(back="OpSelectionMerge %last None\nOpBranchConditional %c %last %stop\n%stop = OpLabel\nOpReturn\n"
                     "%last = OpLabel\nOpBranch %loop"), says="another way than through"),
    broken("structured-loops", "an edge back from the body",
           flow("OpBranch %loop\n%loop = OpLabel\nOpLoopMerge %end %next None\nOpBranch %body\n%body = OpLabel\n"
                "OpBranchConditional %c %loop %end\n%next = OpLabel\nOpReturn\n%end = OpLabel"),
           says="does not dominate the block"),
    valid("a continue construct of several blocks",
          loop(back="OpSelectionMerge %last None\nOpBranchConditional %c %last %more\n%more = OpLabel\nOpBranch %last\n"
                    "%last = OpLabel\nOpBranchConditional %c %loop %end")),
    broken("structured-exits", "a selection left for a block of the one around it",
           flow("OpSelectionMerge %out None\nOpBranchConditional %c %h %x\n%h = OpLabel\nOpSelectionMerge %end None\n"
                "OpBranchConditional %c %then %end\n%then = OpLabel\nOpBranch %x\n%end = OpLabel\nOpBranch %out\n"
                "%x = OpLabel\nOpBranch %out\n%out = OpLabel"), says="which is no exit of it"),
    broken("structured-exits", "a loop left for another block",
           flow("OpSelectionMerge %out None\nOpBranchConditional %c %loop %x\n%loop = OpLabel\n"
                "OpLoopMerge %end %next None\nOpBranch %body\n%body = OpLabel\nOpBranchConditional %c %next %x\n"
                "%next = OpLabel\nOpBranch %loop\n%end = OpLabel\nOpBranch %out\n%x = OpLabel\nOpBranch %out\n"
                "%out = OpLabel"), says="leaves the loop construct"),
    broken("structured-entries", "a selection that a block behind its merge block enters again",
           flow("OpSelectionMerge %end None\nOpBranchConditional %c %x %end\n%x = OpLabel\n"
                "OpBranchConditional %c %end %y\n%end = OpLabel\nOpBranch %y\n%y = OpLabel"),
           says="enters the selection construct"),
    broken("structured-convergence", "two blocks lead to one in a selection whose merge block nobody reaches",
           converging("OpSelectionMerge %end None\nOpBranchConditional %c %x %y\n%x = OpLabel\nOpBranch %z\n"
                      "%y = OpLabel\nOpBranch %z\n%z = OpLabel\nOpReturn\n%end = OpLabel"),
           says="where nothing converges"),
    valid("two blocks lead to a merge block, a continue target and a case",
          converging("OpSelectionMerge %out None\nOpSwitch %s %out 1 %one 2 %two\n%one = OpLabel\nOpBranch %two\n"
                     f"%two = OpLabel\n{LOOP.format(body='OpBranchConditional %c %next %end', next='OpBranch %loop')}\n"
                     "OpBranch %out\n%out = OpLabel")),
    valid("a switch within a loop breaks the loop",
          loop("OpSelectionMerge %after None\nOpSwitch %s %after 1 %leave 2 %again\n%leave = OpLabel\nOpBranch %end\n"
               "%again = OpLabel\nOpBranch %next\n%after = OpLabel\nOpBranch %next")),
    valid("selections nested 60 deep", nested(60)),
    valid("selections nested 1023 deep", nested(1023)),
    broken("structured-exits", "selections nested 1024 deep", nested(1024), says="nested more than 1023 deep"),
]
