import type { ObjectDetails } from '#gen/roster/object/v1/object'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import type { OneTimeCode } from '../../../directory/secrets/one-time-codes.ts'
import { findLinkOf } from '../../passkeys/link.ts'
import { refusalOf, refused } from '../../factors/passkey/ceremony.ts'
import { finishRegistration } from '../../passkeys/register.ts'
import { bindingOf } from './begin.ts'

interface Finished {
  userId: string
  passkeyId: string
  credential: object | undefined
  name: string
  secondOnly: boolean
}

/** Adds a passkey that a program began. Where the caller is another user, that was by a link. */
export async function finish(
  context: Context,
  { userId, passkeyId, credential, name, secondOnly }: Finished,
  call: Call,
): Promise<{ details: ObjectDetails }> {
  const isOwn = call.caller.userId === userId
  const add = (code: OneTimeCode | undefined) => {
    const binding = bindingOf({ userId, passkeyId, codeId: code?.code.codeId, secondOnly }, call)
    return finishRegistration(
      context,
      { userId, credential: JSON.stringify(credential), name, binding, secondOnly, code, isOwn: true },
      call,
    )
  }
  const code = secondOnly ? undefined : await findLinkOf(context, userId, call)
  if (!isOwn && !code) throw refused('late')
  try {
    const { details } = await add(code)
    return { details }
  } catch (error) {
    // There is a link, but this one was begun without it.
    if (!(isOwn && code && refusalOf(error) === 'late')) throw error
    const { details } = await add(undefined)
    return { details }
  }
}
