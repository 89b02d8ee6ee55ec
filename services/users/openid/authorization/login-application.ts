import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { issuerOf } from '../../directory/issuer.ts'
import { answerApplication, redirect } from './answer.ts'
import { isSilent, type Parameters } from '../request/parameters.ts'
import type { Reading } from '../request/read-parameters.ts'
import { beginRequest } from '../request/request-row.ts'

/**
 * Begins a request that a login application finishes, and sends the browser there. What is wrong with a request waits in
 * it until a person is signed in, unless no page is wanted.
 */
export async function toLoginApplication(
  context: Context,
  baseUri: string,
  { parameters, reading }: { parameters: Parameters; reading: Exclude<Reading, { notice: unknown }> },
  { clientAddress: address }: Call,
): Promise<PageAnswer> {
  if ('fault' in reading && isSilent(parameters))
    return answerApplication(issuerOf(context.config), parameters, { fault: reading.fault }, false)
  const id = await beginRequest(context, { parameters, browserId: undefined, address, finishedBy: 'login-client' })
  return redirect(`${baseUri.replace(/\/$/, '')}/login?authRequest=${id}`)
}
