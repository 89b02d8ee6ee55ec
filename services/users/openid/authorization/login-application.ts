import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { redirect } from './answer.ts'
import type { Parameters } from '../request/parameters.ts'
import { beginRequest } from '../request/request-row.ts'

/** Begins a request that a login application finishes, and sends the browser there. */
export async function toLoginApplication(
  context: Context,
  baseUri: string,
  parameters: Parameters,
  { clientAddress: address }: Call,
): Promise<PageAnswer> {
  const id = await beginRequest(context, { parameters, browserId: undefined, address, finishedBy: 'login-client' })
  return redirect(`${baseUri.replace(/\/$/, '')}/login?authRequest=${id}`)
}
