#include "model/expression_code.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* Making it ------------------------------------------------------------------------------------ */

/* x^2, x^3 and x^4 of a variable are products. */
static bool append_product(yk_code *code)
{
    int first = code->count - 2;
    if (first < code->settled)
        return false;

    /* Other powers, and those of computed values, need pow(). */
    yk_instruction *base = &code->instructions[first];
    const yk_instruction *exponent = base + 1;
    if (base->operation != YK_OPERATION_VARIABLE || exponent->operation != YK_OPERATION_NUMBER)
        return false;

    if (exponent->number == 2)
        base->operation = YK_OPERATION_SQUARE;
    else if (exponent->number == 3)
        base->operation = YK_OPERATION_CUBE;
    else if (exponent->number == 4)
        base->operation = YK_OPERATION_FOURTH;
    else
        return false;

    code->count--;
    return true;
}

void yk_code_append(yk_code *code, yk_instruction next, int operands)
{
    if (next.operation == YK_OPERATION_POWER && append_product(code))
        return;

    code->instructions[code->count++] = next;

    /* Fold constants. Operands that end a branch cannot be folded. */
    int first = code->count - 1 - operands;
    if (operands == 0 || first < code->settled)
        return;

    for (int i = first; i < first + operands; i++)
        if (code->instructions[i].operation != YK_OPERATION_NUMBER)
            return;

    double value = yk_code_run(code->instructions + first, operands + 1, NULL);
    code->instructions[first] = (yk_instruction){.operation = YK_OPERATION_NUMBER, .number = value};
    code->count = first + 1;
}

void yk_code_land(yk_code *code, int jump)
{
    code->instructions[jump].index = code->count - jump - 1;
    code->settled = code->count;
}

/* Running it ----------------------------------------------------------------------------------- */

/* NOLINTBEGIN(clang-analyzer-core.*): the compiler of expressions guarantees that operands are on
 * the stack, and that variables exist. */
double yk_code_run(const yk_instruction *instructions, int count, const double *variables)
{
    double stack[YK_CODE_STACK_MAX];
    double *top = stack; /* next free place */
    const yk_instruction *end = instructions + count;
    for (const yk_instruction *now = instructions; now < end; now++) {
        switch (now->operation) {
        case YK_OPERATION_NUMBER: *top++ = now->number; break;
        case YK_OPERATION_VARIABLE: *top++ = variables[now->index]; break;
        case YK_OPERATION_SQUARE: {
            double x = variables[now->index];
            *top++ = x * x;
            break;
        }
        case YK_OPERATION_CUBE: {
            double x = variables[now->index];
            *top++ = x * x * x;
            break;
        }
        case YK_OPERATION_FOURTH: {
            double x = variables[now->index];
            *top++ = x * x * x * x;
            break;
        }
        case YK_OPERATION_NEGATE: top[-1] = -top[-1]; break;
        case YK_OPERATION_ADD:
            top--;
            top[-1] += top[0];
            break;
        case YK_OPERATION_SUBTRACT:
            top--;
            top[-1] -= top[0];
            break;
        case YK_OPERATION_MULTIPLY:
            top--;
            top[-1] *= top[0];
            break;
        case YK_OPERATION_DIVIDE:
            top--;
            top[-1] /= top[0];
            break;
        case YK_OPERATION_POWER:
            top--;
            top[-1] = pow(top[-1], top[0]);
            break;
        case YK_OPERATION_LESS:
            top--;
            top[-1] = top[-1] < top[0];
            break;
        case YK_OPERATION_LESS_EQUAL:
            top--;
            top[-1] = top[-1] <= top[0];
            break;
        case YK_OPERATION_GREATER:
            top--;
            top[-1] = top[-1] > top[0];
            break;
        case YK_OPERATION_GREATER_EQUAL:
            top--;
            top[-1] = top[-1] >= top[0];
            break;
        case YK_OPERATION_EQUAL:
            top--;
            top[-1] = top[-1] == top[0];
            break;
        case YK_OPERATION_UNEQUAL:
            top--;
            top[-1] = top[-1] != top[0];
            break;
        case YK_OPERATION_AND:
            top--;
            top[-1] = top[-1] != 0 && top[0] != 0;
            break;
        case YK_OPERATION_OR:
            top--;
            top[-1] = top[-1] != 0 || top[0] != 0;
            break;
        case YK_OPERATION_CALL_1: top[-1] = now->one(top[-1]); break;
        case YK_OPERATION_CALL_2:
            top--;
            top[-1] = now->two(top[-1], top[0]);
            break;
        case YK_OPERATION_CALL_3:
            top -= 2;
            top[-1] = now->three(top[-1], top[0], top[1]);
            break;
        case YK_OPERATION_CALL_MANY:
            top -= now->index - 1;
            top[-1] = now->many(top - 1, now->index);
            break;
        case YK_OPERATION_TABLE_1: top[-1] = yk_lookup_value(now->table, top[-1]); break;
        case YK_OPERATION_TABLE_2:
            top--;
            top[-1] = yk_lookup_value_2(now->table, top[-1], top[0]);
            break;
        case YK_OPERATION_JUMP: now += now->index; break;
        case YK_OPERATION_UNLESS:
            if (*--top == 0)
                now += now->index;
            break;
        }
    }

    return stack[0];
}
/* NOLINTEND(clang-analyzer-core.*) */
