import { methods } from '../../lib/rpc/methods.ts'
import { stores } from './test-broker.ts'

const stream = 'roster-events'
const readers = ['grants', 'notifier', 'organization-acme']
const everything = {
  name: 'mine',
  durable_name: 'mine',
  filter_subject: 'roster.events.>',
  ack_policy: 'none',
  deliver_policy: 'all',
}
const consumer = { stream_name: stream, config: everything }
const pushed = {
  ...everything,
  durable_name: undefined,
  deliver_subject: 'roster.users.v1.UserService.SetEmail',
  deliver_group: 'users',
}

/** The questions that JetStream can be asked, each with content that would do harm. */
const jetstream: Record<string, object | string> = {
  INFO: '',
  'ACCOUNT.PURGE.ROSTER': '',
  'STREAM.NAMES': '',
  'STREAM.LIST': '',
  [`STREAM.INFO.${stream}`]: { subjects_filter: '>' },
  'STREAM.CREATE.mine': { name: 'mine', subjects: ['mine.>'] },
  'STREAM.CREATE.mirror': { name: 'mirror', mirror: { name: stream } },
  [`STREAM.CREATE.${stream}`]: { name: stream, subjects: ['roster.>'] },
  [`STREAM.UPDATE.${stream}`]: { name: stream, subjects: ['roster.events.>'], max_msgs: 1 },
  [`STREAM.DELETE.${stream}`]: '',
  [`STREAM.PURGE.${stream}`]: '',
  [`STREAM.MSG.GET.${stream}`]: { seq: 1 },
  [`STREAM.MSG.DELETE.${stream}`]: { seq: 1 },
  [`DIRECT.GET.${stream}`]: { seq: 1 },
  [`DIRECT.GET.${stream}.roster.events.users.acme.user.u.removed`]: '',
  [`STREAM.SNAPSHOT.${stream}`]: { deliver_subject: 'roster.users.v1.UserService.SetEmail' },
  'STREAM.RESTORE.mine': { config: { name: 'mine' }, state: {} },
  'STREAM.TEMPLATE.NAMES': '',
  [`STREAM.LEADER.STEPDOWN.${stream}`]: '',
  'META.LEADER.STEPDOWN': '',
  [`CONSUMER.NAMES.${stream}`]: '',
  [`CONSUMER.LIST.${stream}`]: '',
  [`CONSUMER.CREATE.${stream}`]: { ...consumer, config: pushed },
  [`CONSUMER.CREATE.${stream}.mine`]: consumer,
  [`CONSUMER.CREATE.${stream}.mine.roster.events.>`]: consumer,
  [`CONSUMER.DURABLE.CREATE.${stream}.mine`]: consumer,
  ...Object.fromEntries(
    readers.flatMap((name) => [
      [`CONSUMER.CREATE.${stream}.${name}.roster.events.>`, { ...consumer, config: { ...pushed, name } }],
      [`CONSUMER.DURABLE.CREATE.${stream}.${name}`, { ...consumer, config: { ...pushed, durable_name: name } }],
      [`CONSUMER.DELETE.${stream}.${name}`, ''],
      [`CONSUMER.INFO.${stream}.${name}`, ''],
      [`CONSUMER.MSG.NEXT.${stream}.${name}`, { batch: 1, no_wait: true }],
    ]),
  ),
}

/** Every subject that means something, or may to a newer server, with the payload to send there. */
export const subjects: [subject: string, payload: string][] = [
  ...[...methods.keys()].map((subject): [string, string] => [subject, '']),
  ...stores.flatMap((name) =>
    [
      `roster.${name}.v2.NewService.New`,
      `roster.events.${name}.acme.user.u.forged`,
      `roster.happened.${name}`,
      `roster.present.${name}.v1.NewService.New.takes`,
      ...['PING', 'INFO', 'STATS', 'PING.x'].map((verb) => `$SRV.${verb.replace('.x', '')}.${name}`),
      `$SRV.PING.${name}.id`,
    ].map((subject): [string, string] => [subject, '[]']),
  ),
  ...[
    '$SRV.PING',
    '$SRV.INFO',
    ...['PING', 'INFO', 'STATS'].map((verb) => `$SRV.${verb}.gateway`),
    '$SRV.PING.gateway.id',
    'roster.callers.changed',
    'roster.mails.registration',
    'roster.stream.state',
    ...stores.map((name) => `roster.stream.forget.${name}.acme.user.u`),
    'roster.stream.forget.x',
    'roster.events.x',
    'roster.x',
    'x',
  ].map((subject): [string, string] => [subject, '']),
  ...Object.entries(jetstream).flatMap(([name, payload]) =>
    ['$JS.API', 'ROSTER.API', '$JS.roster.API'].map((prefix): [string, string] => [
      `${prefix}.${name}`,
      payload === '' ? '' : JSON.stringify(payload),
    ]),
  ),
  ...readers.map((name): [string, string] => [`$JS.ACK.${stream}.${name}.1.1.1.1700000000000000000.0`, '+ACK']),
  ...[
    '$JS.EVENT.ADVISORY.API',
    `$JS.FC.${stream}.mine.x`,
    '$KV.x.y',
    '$O.x.M.y',
    '$NRG.AE.x',
    '$JSC.R.x',
    '_GR_.x.y.z',
  ].map((subject): [string, string] => [subject, '']),
  ...['_INBOX', ...[...stores, 'gateway', 'keeper'].map((name) => `_INBOX_${name}`), '_R_'].map(
    (prefix): [string, string] => [`${prefix}.x.y`, ''],
  ),
  ...[
    'SERVER.PING',
    'SERVER.PING.CONNZ',
    'ACCOUNT.PING.CONNZ',
    'ACCOUNT.ROSTER.CONNZ',
    'USER.INFO',
    'SERVER.PING.JSZ',
  ].map((name): [string, string] => [`$SYS.REQ.${name}`, '']),
  ['$SYS.ACCOUNT.ROSTER.CONNECT', '{}'],
]
