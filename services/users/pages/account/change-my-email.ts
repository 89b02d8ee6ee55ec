import { create } from '@bufbuild/protobuf'
import type { ChangeMyEmailRequest } from '#gen/roster/users/v1/account_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { RosterError } from '#lib/errors'
import { registry } from '#lib/registry'
import type { Call } from '#lib/rpc/headers'
import { validate } from '#lib/rpc/validate'
import type { Context } from '../../context.ts'
import { checkAddress } from '../../directory/email/address.ts'
import { meantName } from '../../directory/meant-name.ts'
import { setEmail } from '../../directory/operations/user/set-email.ts'
import { openAccount } from './open-account.ts'

const change = registry.getMessage('roster.users.v1.SetEmailRequest')!

export async function changeMyEmail(context: Context, request: ChangeMyEmailRequest, call: Call): Promise<PageAnswer> {
  const opened = await openAccount(context, request, 'email', call)
  if ('answer' in opened) return opened.answer
  const { userId, to } = opened
  const asked = { userId, email: meantName(request.email), verification: undefined }
  if ([...validate(change, create(change, { userId, email: asked.email })), ...checkAddress(asked.email)].length > 0)
    return to('email', 'address-invalid')
  try {
    await setEmail.handle(context, asked, opened.call)
    return to('', 'address-sent')
  } catch (error) {
    if (!(error instanceof RosterError)) throw error
    if (error.reason === 'EMAIL_NOT_CHANGED') return to('email', 'address-same')
    if (error.reason === 'EMAIL_CHANGES_THROTTLED' || error.reason === 'MAILS_THROTTLED')
      return to('email', 'throttled')
    throw error
  }
}
