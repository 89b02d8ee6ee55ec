import { counter, gauge, histogram } from '#lib/telemetry/instruments'

export const mails = counter({
  name: 'roster.mails',
  unit: '{mail}',
  description:
    'tries to mail by their end. sent; refused: never again; deferred: the receiver asks to come again; unreachable: ' +
    'the mail server; misconfigured: it takes no mail from us; late: its time was over; nothing: no longer to be sent',
  labels: {
    'roster.outcome': ['sent', 'refused', 'deferred', 'unreachable', 'misconfigured', 'late', 'nothing'],
  },
})

export const bounces = counter({
  name: 'roster.mail.bounces',
  unit: '{report}',
  description:
    'reports about mails that had left, of the mailbox (MAIL_BOUNCES_IMAP) or of the mail provider (webhook). bounced; soft: ' +
    'it may still arrive; again: it was known; unknown: of no mail that Roster knows; unreadable: no report',
  labels: {
    'roster.source': ['mailbox', 'webhook'],
    'roster.outcome': ['bounced', 'soft', 'again', 'unknown', 'unreadable'],
  },
})

export const mailboxLooks = counter({
  name: 'roster.mail.bounces.looks',
  unit: '{look}',
  description: 'looks into the mailbox of bounces (MAIL_BOUNCES_IMAP): done, or failed and to be tried again',
  labels: { 'roster.outcome': ['done', 'failed'] },
})

export const mailTimes = histogram({
  name: 'roster.mail.duration',
  unit: 's',
  description: 'how long the mail server took for a mail that it took',
  bounds: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120],
})

const queues = ['mails', 'webhooks'] as const

export const jobs = gauge({
  name: 'roster.queue.jobs',
  unit: '{job}',
  description:
    'jobs of BullMQ in Redis: waiting for a worker, under way (active), or resting before another try (delayed)',
  labels: { 'roster.queue': queues, 'roster.state': ['waiting', 'active', 'delayed'] },
})

export const jobsAge = gauge({
  name: 'roster.queue.oldest.age',
  unit: 's',
  description:
    'how long the oldest of the waiting jobs has waited for a worker, whatever its place, without the time that it ' +
    'rested; 0 if none waits. Of more than 20,000 mails, it looks at the first and the last 10,000',
  labels: { 'roster.queue': queues },
})

export const webhookTries = counter({
  name: 'roster.webhook.tries',
  unit: '{try}',
  description: 'events sent to webhooks: taken by the receiver, to be tried again, or given up',
  labels: { 'roster.outcome': ['sent', 'queued', 'failed'] },
})

export const webhookLanes = gauge({
  name: 'roster.webhook.under_way',
  unit: '{try}',
  description: 'tries under way: to webhooks that are quick, and to the others, which get half of the places',
  labels: { 'roster.lane': ['quick', 'slow'] },
})

export const webhookPlaces = gauge({
  name: 'roster.webhook.places',
  unit: '{try}',
  description: 'the most tries under way at a time: WEBHOOK_CONCURRENCY',
})

export const webhooksHeld = gauge({
  name: 'roster.webhook.held',
  unit: '{webhook}',
  description: 'webhooks with due events that wait for a place of their organization',
})

const sources = ['users', 'grants', 'idp', 'notifier']

export const intakeLag = gauge({
  name: 'roster.intake.lag',
  unit: '{event}',
  description:
    'committed events of a service that the notifier did not take in yet, for webhooks; the count ends at 10,001',
  labels: { 'roster.source': sources },
})

export const intakeLagAge = gauge({
  name: 'roster.intake.lag.age',
  unit: 's',
  description:
    'how long the first of these events has waited, or how long they could not be counted; 0 if there is none',
  labels: { 'roster.source': sources },
})

export const webhooksDue = gauge({
  name: 'roster.webhook.due',
  unit: '{chain}',
  description: 'objects with events that are due to an active webhook; the count ends at 10,001',
})

export const webhooksDueAge = gauge({
  name: 'roster.webhook.due.age',
  unit: 's',
  description: 'how long the first of them has been due',
})

export const logoutTries = counter({
  name: 'roster.logout.tries',
  unit: '{try}',
  description: 'back-channel logouts sent to applications: taken, to be tried again, or given up',
  labels: { 'roster.outcome': ['sent', 'queued', 'failed'] },
})

export const logoutsWaiting = gauge({
  name: 'roster.logout.waiting',
  unit: '{logout}',
  description: 'back-channel logouts that no application took yet; the count ends at 10,001',
})

export const logoutsWaitingAge = gauge({
  name: 'roster.logout.waiting.age',
  unit: 's',
  description: 'how long the first of these has waited, with its tries; it is given up after an hour',
})
