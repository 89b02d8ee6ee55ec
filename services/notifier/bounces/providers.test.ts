import { describe, expect, test } from 'vitest'
import { readPosted } from './providers.ts'

const mailId = '0b3f8f0e-4a53-4f5c-9f0b-6f6c2d6f1a11'
const messageId = `<${mailId}@id.example.com>`

const postmark = (own: object) => ({
  RecordType: 'Bounce',
  Type: 'HardBounce',
  MessageID: '883953f4-6105-42a2-a16a-77a8eac79483',
  Metadata: { 'mail-id': mailId },
  Details: 'smtp;550 5.1.1 The account gigi@example.org does not exist',
  Email: 'gigi@example.org',
  ...own,
})
const sendGrid = (own: object) => [
  {
    email: 'gigi@example.org',
    timestamp: 1_513_299_569,
    'smtp-id': messageId,
    event: 'bounce',
    sg_message_id: '14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0',
    status: '5.1.1',
    reason: '550 5.1.1 The account gigi@example.org does not exist',
    ...own,
  },
]
const mailgun = (own: object) => ({
  signature: { token: 't', timestamp: '1', signature: 's' },
  'event-data': {
    event: 'failed',
    severity: 'permanent',
    recipient: 'gigi@example.org',
    message: { headers: { 'message-id': messageId.slice(1, -1), to: 'gigi@example.org' } },
    'delivery-status': { code: 550, 'enhanced-code': '5.1.1', message: '550 5.1.1 no gigi@example.org here' },
    ...own,
  },
})
const ses = (own: object) => ({
  notificationType: 'Bounce',
  bounce: {
    bounceType: 'Permanent',
    bounceSubType: 'General',
    bouncedRecipients: [
      { emailAddress: 'gigi@example.org', status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1 no gigi@example.org here' },
    ],
  },
  mail: {
    messageId: '00000138111222aa-33322211-cccc-cccc-cccc-ddddaaaa068a-000000',
    destination: ['gigi@example.org'],
    headers: [{ name: 'Message-ID', value: messageId }],
  },
  ...own,
})
const sns = (message: unknown, own: object = {}) => ({
  Type: 'Notification',
  TopicArn: 'arn:aws:sns:eu-central-1:123456789012:bounces',
  Message: typeof message === 'string' ? message : JSON.stringify(message),
  ...own,
})

describe.each([
  { name: 'Postmark', hard: postmark({}) },
  { name: 'SendGrid', hard: sendGrid({}) },
  { name: 'Mailgun', hard: mailgun({}) },
  { name: 'Amazon SES by SNS', hard: sns(ses({})) },
  { name: 'Amazon SES', hard: ses({}) },
])('$name', ({ hard }) => {
  test('names a mail that bounced, and why, without its address', () => {
    const { notices } = readPosted(hard)!
    expect(notices).toEqual([{ mailId, bounced: true, status: expect.any(String), reason: expect.any(String) }])
    expect(notices[0]!.reason).toMatch(/550 5\.1\.1 /)
    expect(notices[0]!.reason).not.toContain('gigi')
  })
})

test.each([
  ['Postmark: a block', postmark({ Type: 'Blocked' })],
  ['Postmark: a complaint', postmark({ RecordType: 'SpamComplaint', Type: 'SpamComplaint' })],
  ['SendGrid: a block', sendGrid({ type: 'blocked' })],
  ['SendGrid: a drop', sendGrid({ event: 'dropped' })],
  ['SendGrid: a complaint', sendGrid({ event: 'spamreport' })],
  ['Mailgun: a complaint', mailgun({ event: 'complained', severity: undefined })],
  ['Amazon SES: a complaint', sns(ses({ notificationType: 'Complaint', bounce: undefined, complaint: {} }))],
  ['Amazon SES: an event', sns(ses({ notificationType: undefined, eventType: 'Bounce' }))],
])('%s is a bounce', (_, body) => {
  expect(readPosted(body)!.notices).toMatchObject([{ mailId, bounced: true }])
})

test.each([
  ['Postmark: full mailbox', postmark({ Type: 'SoftBounce' })],
  ['Postmark: somebody is away', postmark({ Type: 'AutoResponder' })],
  ['Postmark: a delivery', postmark({ RecordType: 'Delivery', Type: undefined })],
  ['SendGrid: a delay', sendGrid({ event: 'deferred' })],
  ['SendGrid: a delivery', sendGrid({ event: 'delivered' })],
  ['Mailgun: a delay', mailgun({ severity: 'temporary' })],
  ['Mailgun: a delivery', mailgun({ event: 'delivered' })],
  ['Amazon SES: a full mailbox', sns(ses({ bounce: { bounceType: 'Transient' } }))],
  ['Amazon SES: a delivery', sns(ses({ notificationType: 'Delivery', bounce: undefined }))],
])('%s is no bounce', (_, body) => {
  expect(readPosted(body)!.notices).toMatchObject([{ mailId, bounced: false }])
})

test.each([
  ['no header', ses({ mail: { messageId: 'x' } })],
  ['the id of another program', sendGrid({ 'smtp-id': '<14c5d75ce93.dfd.64b469@ismtpd-555>' })],
  ['no metadata', postmark({ Metadata: undefined })],
  ['a long text', mailgun({ message: { headers: { 'message-id': `${mailId}@${'x'.repeat(100_000)}` } } })],
])('a bounce with %s names no mail', (_, body) => {
  expect(readPosted(body)!.notices).toMatchObject([{ mailId: undefined, bounced: true }])
})

test.each([
  null,
  'text',
  42,
  [],
  {},
  [null],
  [...sendGrid({}), 'x'],
  { 'event-data': 'x' },
  { RecordType: 7 },
  sns('Successfully validated SNS topic for Amazon SES event publishing.'),
  sns(null),
  sns(ses({}), { Type: 'Other' }),
  { notificationType: 'Bounce' },
])('%j is of no provider', (body) => {
  expect(readPosted(body)).toBeUndefined()
})

test.each([
  ['https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=t', true],
  ['http://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription', false],
  ['https://amazonaws.com.example.org/', false],
  ['https://sns.amazonaws.com:8443/', false],
  ['', false],
])('a subscription to be confirmed at %s is shown to the operator: %s', (SubscribeURL, isShown) => {
  const posted = readPosted(sns('', { Type: 'SubscriptionConfirmation', SubscribeURL }))
  expect(posted?.confirmAt).toBe(isShown ? SubscribeURL : undefined)
})
