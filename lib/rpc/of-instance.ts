import { instance } from '../instance.ts'
import type { Operation } from './serve.ts'

/** The operation on what belongs to the instance, in whichever organization the caller acts. */
export function ofInstance<Context, Request, Response>(
  operation: Operation<Context, Request, Response>,
): Operation<Context, Request, Response> {
  const { handle, ...checks } = typeof operation === 'function' ? { handle: operation } : operation
  return {
    ...checks,
    handle: (context, request, call) => handle(context, request, { ...call, organizationId: instance.id }),
  }
}
