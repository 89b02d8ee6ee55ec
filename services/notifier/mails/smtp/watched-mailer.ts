import type { Waits } from '#lib/health/waits'
import type { Service } from '#lib/process'
import { repeat } from '#lib/repeat'
import type { Mailer } from './mailer.ts'
import { readRefusal } from './smtp-refusal.ts'

/** Milliseconds without a success after which the mail server counts as away: one lost connection means little. */
const patience = 5000
/** Milliseconds between two looks for a mail server that is away, in case that no mail finds out. */
const lookEvery = 30_000

/** Sends by the mailer, and notes while the mail server cannot be reached or takes nothing from us. */
export function watchMailer(mailer: Mailer, waits: Waits): Mailer & Service {
  let failsSince: number | undefined

  function noteSuccess() {
    failsSince = undefined
    waits.end('SMTP')
  }

  function noteFailure(error: unknown) {
    const { permanent, ours, reason } = readRefusal(error)
    const answered = (error as { responseCode?: number }).responseCode !== undefined
    if (permanent) return
    if (answered && !ours) return noteSuccess()
    failsSince ??= Date.now()
    if (Date.now() - failsSince >= patience) waits.begin('SMTP', new Error(reason), failsSince)
  }

  const looks = repeat({
    async work() {
      if (waits.has('SMTP')) await mailer.verify().then(noteSuccess)
    },
    every: lookEvery,
    retryAfter: lookEvery,
    failed() {},
  })

  return {
    ...mailer,
    async send(...mail) {
      try {
        const sent = await mailer.send(...mail)
        noteSuccess()
        return sent
      } catch (error) {
        noteFailure(error)
        throw error
      }
    },
    stop: () => looks.stop(),
  }
}
