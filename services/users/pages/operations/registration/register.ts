import {
  type PageAnswer,
  type RegisterRequest,
  RegistrationError,
  SignInError,
} from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import { toPage } from '../../../openid/authorization/answer.ts'
import { openForm, signingIn } from '../../sign-in/opened-request.ts'
import { readRequest } from '../../../openid/request/read-request.ts'
import { advance, type Progress, type RequestRow } from '../../../openid/request/request-row.ts'
import type { Context } from '../../../context.ts'
import { isOrganization, registeringOrganization } from '../../../openid/request/registering-organization.ts'
import { keepRegistration } from '../../registration/registration.ts'
import { countRegistration } from '../../registration/registration-limits.ts'
import { findFault, typedIn } from '../../registration/typed-registration.ts'

/**
 * Whether the address has an account is looked up when the mail is made. So neither this answer nor its time can depend on
 * it.
 */
export async function register(context: Context, request: RegisterRequest, call: Call): Promise<PageAnswer> {
  const opened = await openForm(context, request, signingIn)
  if ('answer' in opened) return opened.answer
  const { row, now } = opened
  const typed = typedIn(request)
  const next = async (progress: Progress) => {
    await orUnavailable(advance(context.keys, row.id, progress)(context.sql))
    return toPage(row.id)
  }
  if (request.action === 'back') return next({ loginName: typed.email })
  const place = await findPlace(context, row, call)
  if (!place) return next({ loginName: typed.email, error: SignInError.SIGN_IN_ERROR_REGISTRATION_CLOSED })
  const error = findFault(typed)
  if (error !== undefined) return next({ registration: { ...typed, error } })
  const limited = { email: typed.email, organizationId: place.organizationId, address: call.clientAddress }
  const wait = await countRegistration(context, limited)
  if (wait !== undefined) {
    const retryAt = new Date(now.getTime() + wait * 1000).toISOString()
    return next({ registration: { ...typed, error: RegistrationError.REGISTRATION_ERROR_THROTTLED, retryAt } })
  }
  context.announceMail(await keepRegistration(context, row, { ...typed, ...place }, now))
  return toPage(row.id)
}

// Undefined where registration is closed.
async function findPlace(
  context: Context,
  { parameters }: RequestRow,
  call: Call,
): Promise<{ organizationId: string; anywhere: boolean } | undefined> {
  const reading = await readRequest(context, parameters, call)
  if (!('asked' in reading)) return undefined
  const organizationId = await registeringOrganization(context, reading)
  const anywhere = reading.asked.organizationScope === undefined
  if (organizationId === undefined) return undefined
  return anywhere || (await isOrganization(context, organizationId, call)) ? { organizationId, anywhere } : undefined
}
