import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import type { Passkey } from '../../../directory/events/passkeys.ts'
import { requireMayActOn } from '../../../directory/may-act-on.ts'
import { removePasskey as remove } from '../../passkeys/change.ts'
import { requireFreshFactor } from '../../passkeys/fresh.ts'

export const removePasskey = removing(({ passkeyId }: { userId: string; passkeyId: string }) => passkeyId, false)
export const removeU2F = removing(({ u2fId }: { userId: string; u2fId: string }) => u2fId, true)

function removing<Request extends { userId: string }>(idOf: (request: Request) => string, secondOnly: boolean) {
  const of = (passkey: Passkey) => (passkey.secondOnly === true) === secondOnly
  return {
    permit: ({ userId }: Request, call: Call, _holdsPermission: boolean, context: Context) =>
      requireMayActOn(context, userId, call),
    async handle(context: Context, request: Request, call: Call) {
      const { userId } = request
      if (userId === call.caller.userId) await requireFreshFactor(context, call)
      return remove(context, { userId, passkeyId: idOf(request), of }, call)
    },
  }
}
