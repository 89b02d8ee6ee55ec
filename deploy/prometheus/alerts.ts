import { serviceNames } from '../local/service-environment.ts'

/** An alert as Prometheus knows it. */
export interface Alert {
  name: string
  expr: string
  /** How long it must hold, as a duration of Prometheus. */
  for: string
  severity: 'critical' | 'warning'
  /** One sentence. It may name labels. */
  summary: string
}

const down = serviceNames
  .map((name) => `label_replace(vector(1), "service", "${name}", "", "") unless on (service) up{job="roster"} == 1`)
  .map((one) => `(${one})`)
  .join(' or ')
const cutOff = `min by (service, roster_server) (roster_server_reachable{job="roster"}) == 0`
const blocked = `max by (service, instance) (nodejs_eventloop_delay_p99{job="roster"}) > 0.5`
const full =
  `max by (service, db_client_connection_pool_name) (` +
  `db_client_connection_count{job="roster", db_client_connection_state="used"}` +
  ` >= on (service, instance, db_client_connection_pool_name) db_client_connection_max{job="roster"})`

/**
 * The alerts. Each says that an operator must act, and why. Where one trouble would bring several, only its cause
 * alerts. `scale` shortens all times, for a test: 1/20 makes a minute three seconds.
 */
export function alerts(scale = 1): Alert[] {
  const seconds = (count: number) => String(count * scale)
  const time = (count: number) => durationOf(count * scale)
  const minutes = (count: number) => time(count * 60)
  const mails = (outcomes: string) =>
    `sum(increase(roster_mails_total{job="roster", roster_outcome=~"${outcomes}"}[${minutes(5)}])) > 0`
  const failed = (is: string) =>
    `sum by (service) (increase(roster_failures_total{job="roster", service${is}"gateway"}[${minutes(10)}])) > 0`
  const mailServer = `${mails('unreachable|misconfigured')} unless ${mails('sent|refused|deferred')}`
  const late = `max by (service) (roster_tail_lag_age{job="roster"}) > ${seconds(60)}`
  const behind =
    `max by (service, roster_source) (roster_intake_lag_age{job="roster"}) > ${seconds(120)}` +
    // The source says INTERNAL, and so cannot report its events.
    ` unless on (roster_source) label_replace(${failed('!=')}, "roster_source", "$1", "service", "(.*)")` +
    ` or max by (service, roster_follower) (roster_follower_lag_age{job="roster"}) > ${seconds(600)}`
  const prepared = `max(roster_transactions_prepared_age{job="roster"}) > ${seconds(60)}`
  const open = `max(roster_transactions_oldest_age{job="roster"}) > ${seconds(60)}`
  const stuck = `max by (service) (roster_store_waiting_age{job="roster"}) > ${seconds(10)}`
  return [
    {
      name: 'RosterServiceDown',
      expr: down,
      for: minutes(1),
      severity: 'critical',
      summary: 'No process of {{ $labels.service }} answers.',
    },
    {
      name: 'RosterReplicaDown',
      expr: `up{job="roster"} == 0 and on (service) up{job="roster"} == 1`,
      for: minutes(5),
      severity: 'warning',
      summary: 'The process {{ $labels.instance }} of {{ $labels.service }} does not answer, but others do.',
    },
    {
      name: 'RosterServerUnreachable',
      expr: cutOff,
      for: minutes(1),
      severity: 'critical',
      summary: '{{ $labels.service }} gets no answers from {{ $labels.roster_server }}.',
    },
    {
      name: 'RosterCallsFail',
      expr:
        `(min(roster_gateway_ready{job="roster"}) == 0 or ${failing(minutes(2))} > 0.05)` +
        ` unless on () ALERTS{alertname=~"${explains.join('|')}", alertstate=~"pending|firing"}`,
      for: minutes(5),
      severity: 'critical',
      summary: 'Calls fail, and no other alert says why.',
    },
    {
      name: 'RosterInternalErrors',
      // The gateway counts those of the services, too.
      expr: `${failed('!=')} or (${failed('=')} unless on () ${failed('!=')})`,
      // Prometheus may read a failure of the gateway before the same one of the service, and forget it later.
      for: minutes(1),
      severity: 'warning',
      summary: '{{ $labels.service }} answered INTERNAL.',
    },
    {
      name: 'RosterStoreStuck',
      expr: `${stuck} unless on (service) (${cutOff}) unless on (service) (${full})`,
      for: minutes(1),
      severity: 'critical',
      summary: 'Changes in {{ $labels.service }} wait for PostgreSQL.',
    },
    {
      name: 'RosterPoolFull',
      expr: `${full} unless on (service) (${cutOff})`,
      for: minutes(2),
      severity: 'warning',
      summary: '{{ $labels.service }} uses all its connections to PostgreSQL all the time.',
    },
    {
      name: 'RosterEventsLate',
      expr:
        `${late} unless on (service) (${cutOff}) unless on () (${down})` +
        // Their transactions are open, and hold up the events of every service.
        ` unless on () (${stuck}) unless on () (${full}) unless on () (${open})` +
        // The gateway keeps the stream, and every service asks it before it publishes.
        ` unless on () min(roster_server_reachable{job="roster", service="gateway", roster_server="nats"}) == 0`,
      // A service that was cut off needs time to work its backlog off.
      for: minutes(3),
      severity: 'warning',
      summary: 'Events of {{ $labels.service }} do not reach JetStream.',
    },
    {
      name: 'RosterTransactionOpen',
      expr:
        `${open} unless on () (${prepared}) unless on () (${stuck}) unless on () (${full})` +
        // What was cut off or stands still may have left it open.
        ` unless on () (${cutOff}) unless on () (${down})`,
      for: minutes(2),
      severity: 'warning',
      summary: 'A transaction in PostgreSQL has been open for {{ $value | humanizeDuration }}. All events wait for it.',
    },
    {
      name: 'RosterTransactionPrepared',
      expr: prepared,
      for: minutes(2),
      severity: 'warning',
      summary:
        'A transaction in PostgreSQL was prepared {{ $value | humanizeDuration }} ago and is not finished. All events wait for it.',
    },
    {
      name: 'RosterEventsNotFollowed',
      expr:
        `(${behind}) unless on () (${cutOff}) unless on () (${down})` +
        ` unless on () (${late}) unless on () (${stuck}) unless on () (${full}) unless on () (${blocked})`,
      for: minutes(2),
      severity: 'warning',
      summary:
        '{{ $labels.service }} does not take in events{{ with $labels.roster_source }} of {{ . }}{{ end }}{{ with $labels.roster_follower }}: {{ . }}{{ end }}.',
    },
    {
      name: 'RosterEventsParked',
      expr: `max by (service, roster_parked_by) (roster_events_parked{job="roster"}) > 0`,
      for: minutes(1),
      severity: 'warning',
      summary: 'Events of {{ $labels.service }} are parked by the {{ $labels.roster_parked_by }}.',
    },
    {
      name: 'RosterDatabaseOlderThanStream',
      expr: `max by (service) (roster_stream_ahead{job="roster"}) > 0`,
      for: minutes(1),
      severity: 'critical',
      summary: 'The database of {{ $labels.service }} lacks events that were published.',
    },
    {
      name: 'RosterAuditLate',
      expr:
        `max by (service) (roster_audit_unsigned_age{job="roster"} - roster_audit_checkpoint_interval{job="roster"})` +
        ` > ${seconds(600)}` +
        // Where the chain works off what an upgrade found, the age falls.
        ` and on (service) max by (service) (delta(roster_audit_unsigned_age{job="roster"}[${minutes(5)}])) > 0` +
        ` unless on (service) (${cutOff}) unless on (service) (${down}) unless on (service) (${late})` +
        ` unless on () (${stuck}) unless on () (${full})`,
      for: minutes(10),
      severity: 'warning',
      summary: 'Events of {{ $labels.service }} are in no signed checkpoint of the audit chain.',
    },
    {
      name: 'RosterMailServer',
      expr: mailServer,
      for: minutes(2),
      severity: 'critical',
      summary: 'The mail server takes no mail.',
    },
    {
      name: 'RosterMailsLate',
      expr:
        `max(roster_queue_oldest_age{job="roster", roster_queue="mails"}) > ${seconds(300)}` +
        ` unless on () (${mailServer}) unless on () (${down}) unless on () (${cutOff})`,
      for: minutes(5),
      severity: 'warning',
      summary: 'Mails wait for a worker.',
    },
    {
      name: 'RosterEventLoopBlocked',
      expr: blocked,
      for: minutes(2),
      severity: 'warning',
      summary: 'The process {{ $labels.instance }} of {{ $labels.service }} has no time for its work.',
    },
    {
      name: 'RosterClockOff',
      expr: `max by (service) (abs(roster_clock_offset{job="roster"})) > 10`,
      for: minutes(5),
      severity: 'warning',
      summary: 'The clocks of {{ $labels.service }} and PostgreSQL differ by {{ $value }} seconds.',
    },
    {
      name: 'RosterCertificateEnds',
      expr: `min(roster_tls_certificate_end{job="roster"}) - time() < 14 * 24 * 3600`,
      for: minutes(10),
      severity: 'warning',
      summary: 'The certificate of the gateway ends in {{ $value | humanizeDuration }}.',
    },
  ]
}

/** Alerts that say why calls fail. */
const explains = [
  'RosterServiceDown',
  'RosterServerUnreachable',
  'RosterStoreStuck',
  'RosterPoolFull',
  'RosterEventLoopBlocked',
  'RosterInternalErrors',
]

function failing(within: string): string {
  const calls = (more: string) =>
    `sum(rate(rpc_server_call_duration_count{job="roster", service="gateway"${more}}[${within}]))`
  return `${calls(', rpc_status_code=~"UNAVAILABLE|DEADLINE_EXCEEDED|INTERNAL"')} / ${calls('')}`
}

function durationOf(seconds: number): string {
  if (seconds % 60 === 0) return `${seconds / 60}m`
  return Number.isInteger(seconds) ? `${seconds}s` : `${Math.round(seconds * 1000)}ms`
}
