import { denied, type ErrorCase, fails, invalid, notFound, owner } from './world.ts'

const url = 'https://receiver.example.com/hook'
const unknown = () => ({ webhookId: 'unknown' })
const nothing = () => ({ deliveryId: 'unknown' })
const noWebhook = notFound('WEBHOOK_NOT_FOUND')
const noDelivery = notFound('DELIVERY_NOT_FOUND')

/** Webhooks, deliveries and the audit chains. */
export const webhookErrors: ErrorCase[] = [
  fails('ListAuditCheckpoints', invalid, 'no service has that name', () => ({ service: 'gateway' }), {
    fields: ['service'],
  }),
  fails('ListAuditCheckpoints', invalid, 'it asks for too many', () => ({ service: 'users', limit: 1001 }), {
    fields: ['limit'],
  }),
  fails(
    'AddWebhook',
    denied,
    'the owner of an organization asks for all',
    () => ({ url, allOrganizations: true }),
    owner,
  ),
  fails('AddWebhook', invalid, 'the address is missing', () => ({}), { fields: ['url'] }),
  fails('AddWebhook', invalid, 'it has no TLS', () => ({ url: 'http://8.8.8.8/' }), { fields: ['url'] }),
  fails('AddWebhook', invalid, 'it names a user', () => ({ url: 'https://a:b@example.com/' }), { fields: ['url'] }),
  fails('AddWebhook', invalid, 'it leads inside', () => ({ url: 'https://10.0.0.1/' }), { fields: ['url'] }),
  fails('AddWebhook', invalid, 'it leads inside in disguise', () => ({ url: 'https://0xa.1/' }), { fields: ['url'] }),
  fails('AddWebhook', invalid, 'an event type is unknown', () => ({ url, eventTypes: ['user.*', 'users.*'] }), {
    fields: ['eventTypes[1]'],
  }),
  fails('UpdateWebhook', noWebhook, 'there is none', () => ({ webhookId: 'unknown', url })),
  fails('RemoveWebhook', noWebhook, 'there is none', unknown),
  fails('GetWebhook', noWebhook, 'there is none', unknown),
  fails('DeactivateWebhook', noWebhook, 'there is none', unknown),
  fails('ReactivateWebhook', noWebhook, 'there is none', unknown),
  fails('RotateWebhookSecret', noWebhook, 'there is none', unknown),
  fails(
    'RotateWebhookSecret',
    invalid,
    'the overlap is too long',
    () => ({ webhookId: 'w', overlapSeconds: 604_801 }),
    {
      fields: ['overlapSeconds'],
    },
  ),
  fails('ReplayFailedDeliveries', noWebhook, 'there is none', unknown),
  fails('GetDelivery', noDelivery, 'there is none', nothing),
  fails('GetMail', notFound('MAIL_NOT_FOUND'), 'there is none', () => ({ mailId: 'unknown' })),
  fails('TestMail', invalid, 'it is no address', () => ({ email: 'a b@example.com' }), { fields: ['email'] }),
  fails('ReplayDelivery', noDelivery, 'there is none', nothing),
  fails('SearchDeliveries', invalid, 'the cursor is none of ours', () => ({ cursor: 'x' }), { fields: ['cursor'] }),
]
