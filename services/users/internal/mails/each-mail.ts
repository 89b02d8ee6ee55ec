import type { Log } from '#lib/log'

/** The value of a mail, unless its work failed. */
export type Done<Value> = { done: true; value: Value } | { done: false }

/** Works on all mails. One whose work fails holds up no other. Throws only if no work succeeds. */
export async function eachMail<Mail extends { codeId: string }, Value>(
  log: Log,
  mails: Mail[],
  work: (mail: Mail) => Promise<Value>,
): Promise<Done<Value>[]> {
  const all = await Promise.allSettled(mails.map(work))
  const failed = all.filter((each) => each.status === 'rejected')
  if (failed.length === all.length) throw failed[0]!.reason
  return all.map((each, index) => {
    if (each.status === 'fulfilled') return { done: true, value: each.value }
    log.error({ err: each.reason as unknown, codeId: mails[index]!.codeId }, 'the work on a mail failed')
    return { done: false }
  })
}
