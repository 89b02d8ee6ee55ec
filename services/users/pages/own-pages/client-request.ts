import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { isSignIn } from '../../openid/request/parameters.ts'
import { readRequest } from '../../openid/request/read-request.ts'
import type { Reading } from '../../openid/request/read-parameters.ts'
import { findRequest, type RequestRow } from '../../openid/request/request-row.ts'

/** A request that waits for a login application, and what it asks for. */
export interface OwnPagesRequest {
  row: RequestRow
  reading: Exclude<Reading, { notice: unknown }>
}

/** NOT_FOUND AUTH_REQUEST_NOT_FOUND; FAILED_PRECONDITION AUTH_REQUEST_ANSWERED. */
export async function openClientRequest(context: Context, id: string, call: Call): Promise<OwnPagesRequest> {
  const row = await findRequest(context, id, 'login-client', isSignIn)
  if (row?.answer) throw requestAnswered()
  const reading = row && !row.isOver ? await readRequest(context, row.parameters, call) : undefined
  if (!row || !reading || 'notice' in reading) throw requestNotFound()
  return { row, reading }
}

export function requestAnswered(): RosterError {
  return new RosterError('FAILED_PRECONDITION', 'AUTH_REQUEST_ANSWERED', 'The request has its answer.')
}

function requestNotFound(): RosterError {
  return new RosterError('NOT_FOUND', 'AUTH_REQUEST_NOT_FOUND', 'There is no such request.')
}
