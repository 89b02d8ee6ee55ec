import { instance } from '#lib/instance'
import type { Operation } from '#lib/rpc/serve'
import type { Context } from './context.ts'

/** The operation on the providers of the instance, in whichever organization the caller acts. */
export function ofInstance<Request, Response>(
  operation: Operation<Context, Request, Response>,
): Operation<Context, Request, Response> {
  const { handle, ...checks } = typeof operation === 'function' ? { handle: operation } : operation
  return {
    ...checks,
    handle: (context, request, call) => handle(context, request, { ...call, organizationId: instance.id }),
  }
}
