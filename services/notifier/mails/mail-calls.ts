import { randomUUID } from 'node:crypto'
import type { EmailCode, InternalServiceDefinition, MailEnd, MailKey } from '#gen/roster/users/v1/internal_service'
import { RosterError } from '#lib/errors'
import { batchCalls } from '#lib/batch-calls'
import type { Clock } from './clock.ts'
import type { Client } from '#lib/rpc/call'

export type MailUsers = Client<typeof InternalServiceDefinition, 'getEmailCode' | 'recordEmailCode'>

/** What the worker asks of users. The error's message, unlike its cause, holds no code and no address. */
export interface MailCalls {
  /** Returns the content of a mail, or nothing if it must not be sent any more. */
  content(mail: MailKey): Promise<EmailCode | undefined>
  record(mail: MailEnd): Promise<void>
}

const answerWithin = 10_000
// Mails that are under way at the same time share calls.
const together = { every: 20, most: 100, span: { name: 'share call' } }

export function openMailCalls(users: MailUsers, clock: Clock): MailCalls {
  const contents = batchCalls(async (mails: MailKey[]) => {
    const answer = await ask(users.getEmailCode({ ...none, mails }, call()))
    clock.hear(answer.time)
    return mails.map((_, index) => answer.contents[index] ?? { unknown: true })
  }, together)
  const ends = batchCalls(async (mails: MailEnd[]) => {
    const answer = await ask(users.recordEmailCode({ ...none, mails }, call()))
    return mails.map((_, index) => answer.recorded[index] === true)
  }, together)

  return {
    async content(mail) {
      const { unknown, code } = await contents(mail)
      if (unknown) throw new Error('users: the content is not known')
      return code
    },
    async record(mail) {
      if (!(await ends(mail))) throw new Error('users: the end is not recorded')
    },
  }
}

const none = { userId: '', codeId: '', kind: 0 } as const

async function ask<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw new Error(`users: ${error instanceof RosterError ? error.reason : 'no answer'}`, { cause: error })
  }
}

function call() {
  return { requestId: randomUUID(), deadline: Date.now() + answerWithin }
}
