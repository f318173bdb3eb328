"""The instruction set: one table of opcodes, its 16-byte encoding, its text, and the stall reasons' names.

Every other room may import this one; it imports nothing but numpy and `gpuprof.errors`. What holds of instructions:

Values
  A value of 16 or 8 bits lives zero-extended in an R register: each instruction that makes one leaves the upper half
  zero. Arithmetic on 16-bit integers is lowered to 32-bit rows and an extension.
  R and D registers share one file of 32-bit words: Rn is word n, Dn is words 2n and 2n + 1, R1 the stack pointer. No
  two values that live at once overlap. A function's `registers` counts its words, those of its callees, and two for its
  program counter; the timing model rounds that number up as the chip allocates. The words after those are a warp's
  uniform registers: all its lanes have the same value there, so they are not part of `registers`.
Operands
  An immediate in a D slot is sign-extended in integer rows; in f64 rows it is the high word of the double.
  A `const` operand is 4 bytes (R) or 8 bytes (D) of the launch's parameter block. LDP reads that block by address, LDC
  reads the module's constant segment.
  An address in shared memory holds the rank of a block of the cluster plus one, from bit 24 on; 0 is the thread's own
  block. So `shared::cluster` addresses are used like any others.
Jumps and calls
  The branch target of instruction i is i + 1 + signed(imm) / 16. `program.basic_block_starts` cuts code into basic
  blocks for everybody.
  CALL pushes the return address on a stack per lane that the emulator keeps, and moves the lane's `localbase` up by the
  caller's frame, whose size is in `mods`. Arguments in registers start at R4. Arguments in memory are at the start of
  the callee's frame. ALLOCA takes local memory above the frame (`mods`); callees then are above it.
Comparisons and carries
  ISETP and FSETP: dst = cmp(a, b) BOOL e, and c = not cmp(a, b) BOOL e. SEL: dst = e ? a : b.
  ISUBC adds the complement: the carry it takes and gives is true where nothing is borrowed.
Warps
  VOTE, MATCH, REDUX, ELECT and WARPSYNC have their member mask in imm (then `imm_slot` says b) or in register b. Lanes
  of a warp do such an operation together wherever they are, if its row, its qualifiers and the mask are the same
  (`emulate/warp_sync.py`). Matrix operations only meet at one instruction.
Copies
  CP.ASYNC copies at once, and its access record is that of global memory; COMMIT and WAIT mean something only to the
  timing model. Bulk and tensor copies are done, and have reported to their mbarrier, as soon as they are issued.
  `isa/families/mbarrier.py` draws the object in shared memory, `isa/tensormap.py` the descriptor of a tensor map;
  both are our own. Operands that a row has no slot for are in a group of registers (`isa/families/bulk.py`).
"""
