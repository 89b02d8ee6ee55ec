import type { TakeProviderReportRequest, TakeProviderReportResponse } from '#gen/roster/notifier/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import { type Posted, readPosted } from '../bounces/providers.ts'
import { storeBounces } from '../bounces/store-bounces.ts'
import type { Context } from '../context.ts'
import { bounces } from '../measures.ts'

/** The gateway has checked the password. */
export async function takeProviderReport(
  { sql, log }: Context,
  { body }: TakeProviderReportRequest,
): Promise<TakeProviderReportResponse> {
  const { notices, confirmAt } = read(body)
  if (confirmAt !== undefined)
    log.warn(
      { confirmAt },
      'Amazon SNS asks whether it may report bounces: open this address once if you asked for that',
    )
  const hard = notices.filter(({ bounced }) => bounced)
  const named = hard.flatMap(({ mailId, status, reason }) => (mailId === undefined ? [] : [{ mailId, status, reason }]))
  await orUnavailable(storeBounces(sql, log, 'webhook', named))
  if (notices.length > hard.length) bounces.add(notices.length - hard.length, 'webhook', 'soft')
  if (hard.length > named.length) bounces.add(hard.length - named.length, 'webhook', 'unknown')
  return {}
}

function read(body: Uint8Array): Posted {
  let posted: Posted | undefined
  try {
    posted = readPosted(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)))
  } catch {
    // Answered below.
  }
  if (posted) return posted
  bounces.add(1, 'webhook', 'unreadable')
  const message =
    'The request is none that Roster knows of Postmark, SendGrid, Mailgun or Amazon SES (also by SNS): see docs/operations.md.'
  throw new RosterError('INVALID_ARGUMENT', 'REQUEST_MALFORMED', message)
}
