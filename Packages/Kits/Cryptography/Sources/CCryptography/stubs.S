// Each function that is called has a stub with its name here. The stub jumps to the function in the library, whose
// address it looks up on the first call. Arguments stay in place, so the stubs need no types, only names.
#include "functions.h"

#define STUB(name) stub name ;

    .text
#if defined(__x86_64__)

.macro stub name
    .globl \name
    .hidden \name
    .type \name, @function
\name:
    .cfi_startproc
    endbr64
    movq ccryptography_found + 8 * \@(%rip), %r11
    testq %r11, %r11
    je 1f
    jmpq *%r11
1:  movl $\@, %r11d
    jmp find_first
    .cfi_endproc
    .size \name, . - \name
.endm

// Preserves the caller's arguments. None of the functions takes an argument in a vector register.
    .type find_first, @function
find_first:
    .cfi_startproc
    pushq %rdi
    pushq %rsi
    pushq %rdx
    pushq %rcx
    pushq %r8
    pushq %r9
    pushq %rax
    .cfi_def_cfa_offset 64
    movl %r11d, %edi
    callq ccryptography_find
    movq %rax, %r11
    popq %rax
    popq %r9
    popq %r8
    popq %rcx
    popq %rdx
    popq %rsi
    popq %rdi
    .cfi_def_cfa_offset 8
    jmpq *%r11
    .cfi_endproc
    .size find_first, . - find_first

#elif defined(__aarch64__)

.macro stub name
    .globl \name
    .hidden \name
    .type \name, %function
\name:
    .cfi_startproc
    hint #34
    adrp x16, ccryptography_found + 8 * \@
    ldr x16, [x16, #:lo12:ccryptography_found + 8 * \@]
    cbz x16, 1f
    br x16
1:  mov w17, #\@
    b find_first
    .cfi_endproc
    .size \name, . - \name
.endm

// Preserves the caller's arguments. None of the functions takes an argument in a vector register.
    .type find_first, %function
find_first:
    .cfi_startproc
    stp x29, x30, [sp, #-96]!
    .cfi_def_cfa_offset 96
    .cfi_offset x29, -96
    .cfi_offset x30, -88
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    str x8, [sp, #80]
    mov w0, w17
    bl ccryptography_find
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    ldr x8, [sp, #80]
    ldp x29, x30, [sp], #96
    .cfi_def_cfa_offset 0
    br x16
    .cfi_endproc
    .size find_first, . - find_first

#else
#error "The way to functions of libssl is not written for this processor."
#endif

CALLED_FUNCTIONS(STUB)

    .section .note.GNU-stack, "", %progbits
