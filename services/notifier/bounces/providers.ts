import { plainDiagnostic, plainStatus } from './plain-diagnostic.ts'

/** What a mail provider says of a mail. */
export interface Notice {
  /** Undefined where it names no mail of ours. */
  mailId: string | undefined
  /** Whether the mail will never arrive, or was marked as spam. */
  bounced: boolean
  status: string
  reason: string
}

/** What a provider posted: notices, or Amazon SNS asks to confirm that it may post. */
export interface Posted {
  notices: Notice[]
  confirmAt?: string
}

type Json = Record<string, unknown>

/** Reads the body of a provider's webhook. Undefined for what no provider sends that is known here. */
export function readPosted(body: unknown): Posted | undefined {
  if (Array.isArray(body)) return listOf(body.map(ofSendGrid))
  const object = asObject(body)
  if (!object) return undefined
  if (typeof object['RecordType'] === 'string') return listOf([ofPostmark(object)])
  if (object['event-data'] !== undefined) return listOf([ofMailgun(asObject(object['event-data']))])
  if (typeof object['TopicArn'] === 'string') return ofSns(object)
  return listOf([ofSes(object)])
}

function listOf(notices: (Notice | undefined)[]): Posted | undefined {
  const known = notices.filter((notice) => notice !== undefined)
  return known.length === notices.length && notices.length > 0 ? { notices: known } : undefined
}

/** The types of Postmark after which a mail does not arrive. */
const hardAtPostmark = new Set([
  'HardBounce',
  'BadEmailAddress',
  'Blocked',
  'DMARCPolicy',
  'ManuallyDeactivated',
  'SpamComplaint',
  'SpamNotification',
  'VirusNotification',
])

function ofPostmark(body: Json): Notice {
  const [type, address] = [textOf(body['Type']), textOf(body['Email'])]
  return notice({
    id: textOf(asObject(body['Metadata'])?.['mail-id']),
    bounced: ['Bounce', 'SpamComplaint'].includes(textOf(body['RecordType'])) && hardAtPostmark.has(type),
    status: '',
    reason: [type, textOf(body['Details']) || textOf(body['Description'])],
    address,
  })
}

function ofSendGrid(body: unknown): Notice | undefined {
  const event = asObject(body)
  if (typeof event?.['event'] !== 'string') return undefined
  return notice({
    id: textOf(event['smtp-id']),
    // A `bounce` of the type `blocked` is not tried again either.
    bounced: ['bounce', 'blocked', 'dropped', 'spamreport'].includes(event['event']),
    status: textOf(event['status']),
    reason: [event['event'], textOf(event['reason'])],
    address: textOf(event['email']),
  })
}

function ofMailgun(event: Json | undefined): Notice | undefined {
  if (typeof event?.['event'] !== 'string') return undefined
  const status = asObject(event['delivery-status'])
  const isFailure = event['event'] === 'failed' && event['severity'] !== 'temporary'
  return notice({
    id: textOf(asObject(asObject(event['message'])?.['headers'])?.['message-id']),
    bounced: isFailure || ['complained', 'rejected'].includes(event['event']),
    status: textOf(status?.['enhanced-code']),
    reason: [event['event'], textOf(status?.['message']) || textOf(status?.['description']) || textOf(event['reason'])],
    address: textOf(event['recipient']),
  })
}

function ofSns(body: Json): Posted | undefined {
  const type = textOf(body['Type'])
  if (type === 'UnsubscribeConfirmation') return { notices: [] }
  if (type === 'SubscriptionConfirmation') {
    const url = URL.parse(textOf(body['SubscribeURL']).slice(0, 2000))
    const isAmazons = url?.protocol === 'https:' && url.hostname.endsWith('.amazonaws.com') && url.port === ''
    return isAmazons ? { notices: [], confirmAt: url.href } : undefined
  }
  // Its own test of a topic, for one, is no JSON.
  return type === 'Notification' ? readSnsMessage(textOf(body['Message'])) : undefined
}

function readSnsMessage(message: string): Posted | undefined {
  try {
    return listOf([ofSes(asObject(JSON.parse(message)))])
  } catch {
    return undefined
  }
}

function ofSes(body: Json | undefined): Notice | undefined {
  const type = body?.['notificationType'] ?? body?.['eventType']
  const mail = asObject(body?.['mail'])
  if (typeof type !== 'string' || !mail) return undefined
  const headers = Array.isArray(mail['headers']) ? mail['headers'].map(asObject) : []
  const header = headers.find((each) => textOf(each?.['name']).toLowerCase() === 'message-id')
  const bounce = asObject(body?.['bounce'])
  const [recipient] = (Array.isArray(bounce?.['bouncedRecipients']) ? bounce['bouncedRecipients'] : []).map(asObject)
  const isHard = type === 'Bounce' && bounce?.['bounceType'] === 'Permanent'
  return notice({
    // What SES itself calls the id is another one.
    id: textOf(header?.['value']) || textOf(asObject(mail['commonHeaders'])?.['messageId']),
    bounced: isHard || ['Complaint', 'Reject'].includes(type),
    status: textOf(recipient?.['status']),
    reason: [type, textOf(bounce?.['bounceSubType']), textOf(recipient?.['diagnosticCode']).replace(/^smtp;\s*/i, '')],
    address:
      textOf(recipient?.['emailAddress']) || textOf(Array.isArray(mail['destination']) ? mail['destination'][0] : ''),
  })
}

interface Facts {
  /** A Message-ID, or the id of a mail. */
  id: string
  bounced: boolean
  status: string
  reason: string[]
  address: string
}

const mailIds = /^<?([\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12})(?:@[^@\s<>]{1,255})?>?$/

function notice({ id, bounced, status, reason, address }: Facts): Notice {
  const text = reason.filter((part) => part !== '').join(': ')
  return {
    mailId: mailIds.exec(id.slice(0, 400).trim().toLowerCase())?.[1],
    bounced,
    status: plainStatus(status),
    reason: plainDiagnostic(text, [address]),
  }
}

function asObject(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
