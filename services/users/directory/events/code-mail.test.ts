import { expect, test } from 'vitest'
import { messageOf } from '#lib/events/messages'
import { awaitsMail, type CodeMailEvent, codeMailType, evolveCodeMail } from './code-mail.ts'

const sent: CodeMailEvent = { type: 'sent', payload: { codeId: '1' } }
const failed: CodeMailEvent = { type: 'failed', payload: { codeId: '2', failure: '550' } }
const code = { codeId: '1', keyId: 'k', expiresAt: '2026-11-20T12:00:00Z', delivery: 'pending' as const, wrongTries: 0 }

test('the last mail that ended is known by its code', () => {
  const first = evolveCodeMail(undefined, sent)
  expect(first).toEqual({ codeId: '1', delivery: 'sent' })
  expect(evolveCodeMail(first, failed)).toEqual({ codeId: '2', delivery: 'failed' })
})

test('a code awaits its mail until that was sent or failed, and only the code that the user has', () => {
  expect(awaitsMail(code, '1', undefined)).toBe(true)
  expect(awaitsMail(code, '1', evolveCodeMail(undefined, failed)), 'an earlier code failed').toBe(true)
  expect(awaitsMail(code, '1', evolveCodeMail(undefined, sent))).toBe(false)
  expect(awaitsMail(code, '2', undefined), 'another code').toBe(false)
  expect(awaitsMail(undefined, '1', undefined)).toBe(false)
})

test('a code that an earlier version marked at the user awaits no mail', () => {
  for (const delivery of ['sent', 'failed', 'returned'] as const)
    expect(awaitsMail({ ...code, delivery }, '1', undefined)).toBe(false)
})

test.each(['sent', 'failed'])('the event that a mail was %s is published as when it was one of the user', (type) => {
  expect(messageOf(codeMailType, type)).toEqual(messageOf('user', `email.code.${type}`))
})
