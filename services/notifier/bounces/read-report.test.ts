import { expect, test } from 'vitest'
import { readReceived } from './read-report.ts'

const lines = (...texts: string[]) => Buffer.from(texts.join('\r\n'))

/** A report as Postfix writes it, with these fields about the recipient. */
export const reportOf = (fields: string[], type = 'multipart/report; report-type=delivery-status') =>
  lines(
    'From: MAILER-DAEMON@relay.example (Mail Delivery System)',
    'To: bounces+x@example.com',
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    `Content-Type: ${type};`,
    '\tboundary="B"',
    '',
    '--B',
    'Content-Type: text/plain',
    '',
    'Action: failed',
    '--B',
    'Content-Description: Delivery report',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; relay.example',
    'Arrival-Date: Sun, 29 Nov 2026 04:00:00 +0000 (UTC)',
    '',
    ...fields,
    '',
    '--B',
    'Content-Type: text/rfc822-headers',
    '',
    'Subject: Your code',
    '',
    '--B--',
    '',
  )

const failed = [
  'Final-Recipient: rfc822; gigi.giraffe@example.com',
  'Original-Recipient: rfc822;Gigi@example.org',
  'Action: failed',
  'Status: 5.1.1',
  'Remote-MTA: dns; mx.example.com',
  'Diagnostic-Code: smtp; 550 5.1.1 <gigi.giraffe@example.com> (Gigi.Giraffe) unknown,',
  '    forwarded by gigi',
]

test('a report that a mail failed says why, without the address and its parts', async () => {
  expect((await readReceived(reportOf(failed))).report).toEqual({
    bounced: true,
    status: '5.1.1',
    reason: '550 5.1.1 <[hidden]> ([hidden]) unknown, forwarded by [hidden]',
  })
})

test('a report that a mail is delayed is no bounce', async () => {
  const delayed = failed.map((line) => line.replace('Action: failed', 'Action: Delayed').replace('5.1.1', '4.4.1'))
  expect((await readReceived(reportOf(delayed))).report).toMatchObject({ bounced: false, status: '4.4.1' })
})

test('a report whose end is cut off is read', async () => {
  const whole = reportOf(failed)
  const cut = whole.subarray(0, whole.indexOf('Subject: Your'))
  expect((await readReceived(cut)).report).toMatchObject({ bounced: true })
})

test('what a report says is one line of bounded plain text', async () => {
  const fields = [
    'Action: failed',
    'Status: 5.1.1 <script>',
    `Diagnostic-Code: smtp; 550 \x1b[31m\u202e\0 ${'x'.repeat(5000)}`,
  ]
  const { report } = await readReceived(reportOf(fields))
  expect(report).toMatchObject({ status: '5.1.1' })
  expect(report!.reason).toMatch(/^550 [\x20-\x7e]+$/)
  expect(report!.reason.length).toBeLessThanOrEqual(300)
})

test.each([
  ['another type', reportOf(failed, 'multipart/mixed')],
  ['no recipient', reportOf([])],
  [
    'no part of a report',
    lines('To: bounces+x@example.com', 'Subject: I am away', '', 'Action: failed', 'Status: 5.0.0'),
  ],
  ['nothing', Buffer.alloc(0)],
])('a message with %s is no report', async (_, raw) => {
  expect((await readReceived(raw)).report).toBeUndefined()
})
