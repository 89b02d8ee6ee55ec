import { optional, readConfig } from '#lib/config/read-config'
import { deriveKeys } from '../derive-keys.ts'
import type { StoringService } from '../provision.ts'
import { natsUsers, passwordVariable } from './servers/nats-users.ts'
import type { Servers } from './servers.ts'
import type { Backoff } from './supervise.ts'

export const serviceNames = ['users', 'grants', 'idp', 'notifier', 'gateway'] as const

export type ServiceName = (typeof serviceNames)[number]

export interface ServicesOptions {
  /** Each storing service's own database URL, as `provision` gives them. */
  databaseUrls: Record<StoringService, string>
  /** The gateway's port. It listens on the loopback interface, unless `HOST` in `env` says otherwise. */
  port: number
  /** The URL that clients use for the gateway. Default: localhost with the port. */
  publicUrl?: string
  adminTokenFile: string
  /** Of Prometheus, where that is asked for. Default: those of `usualMetricsPorts`. */
  metricsPorts?: Record<ServiceName, number> | undefined
  /** The root that each service's keys are derived from: 32 bytes in base64. No service is given it. */
  encryptionKey: string
  /**
   * Inherited by every service, without the settings that belong to another. Values made here win over it. Default:
   * process.env.
   */
  env?: Record<string, string | undefined>
  /** The file that a service's process runs. Default: services/<name>/main.ts. */
  entry?: (name: ServiceName) => string
  /** What starts the program of a service, such as `env NAME=value`. Default: nothing. */
  under?: ((name: ServiceName) => string[]) | undefined
  /** "off" leaves a crashed service down, for tests that want to see it so. Default: the usual waits. */
  backoff?: Backoff | 'off'
  say?: (line: string) => void
}

/** The certificate with which the gateway speaks TLS, in PEM. Undefined: it speaks plain HTTP. */
export function certificateOf(env: Record<string, string | undefined> = process.env): string | undefined {
  return readConfig({ TLS_CERT: optional() }, env).TLS_CERT
}

/** Where the gateway is reached from this machine, with the name that its certificate should have. */
export function localUrl({ port, env }: Pick<ServicesOptions, 'port' | 'env'>): string {
  return `${certificateOf(env) === undefined ? 'http' : 'https'}://localhost:${port}`
}

/** The environment of one service: the common part, and of the secrets only those that it needs. */
export function serviceEnvironment(
  name: ServiceName,
  servers: Servers,
  options: ServicesOptions,
): Record<string, string | undefined> {
  const inherited = Object.entries(options.env ?? process.env).filter(([key]) => !withheld.has(key))
  return {
    ...(name === 'gateway' && { HOST: '127.0.0.1' }),
    ...Object.fromEntries(inherited),
    PUBLIC_URL: options.publicUrl ?? localUrl(options),
    NATS_URL: servers.natsUrl[name],
    ...own(name, servers, options),
    ...metricsPort(name, options),
    ...deriveKeys(options.encryptionKey)[name],
  }
}

/** Each process has a port of its own for Prometheus: the one that is asked for, or one of the next ones. */
export function usualMetricsPorts(
  env: Record<string, string | undefined> = process.env,
): Record<ServiceName, number> | undefined {
  if (!env['OTEL_METRICS_EXPORTER']?.includes('prometheus')) return undefined
  const first = Number(env['OTEL_EXPORTER_PROMETHEUS_PORT'] || 9464)
  return Object.fromEntries(serviceNames.map((name, index) => [name, first && first + index])) as Record<
    ServiceName,
    number
  >
}

function metricsPort(name: ServiceName, { metricsPorts, env }: ServicesOptions): Record<string, string> {
  const ports = metricsPorts ?? usualMetricsPorts(env)
  return ports ? { OTEL_EXPORTER_PROMETHEUS_PORT: String(ports[name]) } : {}
}

function own(name: ServiceName, servers: Servers, options: ServicesOptions): Record<string, string | undefined> {
  switch (name) {
    case 'users':
      return {
        DATABASE_URL: options.databaseUrls.users,
        ROSTER_ADMIN_TOKEN_FILE: options.adminTokenFile,
      }
    case 'grants':
      return { DATABASE_URL: options.databaseUrls.grants }
    case 'idp':
      return { DATABASE_URL: options.databaseUrls.idp }
    case 'notifier':
      return {
        DATABASE_URL: options.databaseUrls.notifier,
        REDIS_URL: servers.redisUrl,
        SMTP_URL: servers.smtpUrl,
      }
    case 'gateway':
      return { PORT: String(options.port), NATS_KEEPER_URL: servers.natsUrl.keeper, ...tlsSettings(options.env) }
  }
}

function tlsSettings(env: Record<string, string | undefined> = process.env) {
  return Object.fromEntries(tlsNames.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
}

const tlsNames = ['TLS_CERT', 'TLS_CERT_FILE', 'TLS_KEY', 'TLS_KEY_FILE']
const shared = [
  'PORT',
  // Each service needs its own.
  'HEALTH_PORT',
  'HEALTH_FILE',
  'DATABASE_URL',
  'NATS_URL',
  'NATS_KEEPER_URL',
  'REDIS_URL',
  'SMTP_URL',
  'ROSTER_ENCRYPTION_KEY',
  'ROSTER_CALLER_KEY',
  'ROSTER_CALLER_KEYS',
  'ROSTER_ADMIN_TOKEN_FILE',
  'ROSTER_OPERATOR_DATABASE_URL',
  'ROSTER_OPERATOR_NATS_URL',
  'ROSTER_OPERATOR_REDIS_URL',
  'ROSTER_OPERATOR_PERSONAL_KEY',
]
const passwords = [
  ...natsUsers.map(passwordVariable),
  ...['USERS', 'GRANTS', 'IDP', 'NOTIFIER', 'OPERATOR'].map((name) => `ROSTER_${name}_DB_PASSWORD`),
]
const withheld = new Set([...tlsNames, ...[...shared, ...passwords].flatMap((name) => [name, `${name}_FILE`])])
