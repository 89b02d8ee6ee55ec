import { instance } from '../instance.ts'
import type { Call } from './headers.ts'
import type { Operation } from './serve.ts'

/** The operation on what belongs to the instance, in whichever organization the caller acts. */
export function ofInstance<Context, Request, Response>(
  operation: Operation<Context, Request, Response>,
): Operation<Context, Request, Response> {
  const whole = typeof operation === 'function' ? { handle: operation } : operation
  const { handle, check } = whole
  const there = (call: Call) => ({ ...call, organizationId: instance.id })
  return {
    ...whole,
    ...(check && { check: (context, request, call, ...more) => check(context, request, there(call), ...more) }),
    handle: (context, request, call) => handle(context, request, there(call)),
  }
}
