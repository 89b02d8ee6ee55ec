import type { DescribedSetting, Settings } from '#lib/config/read-config'

/** The tables of docs/settings.md: one for what several services share, and one for each service. */
export function documentSettings(services: Record<string, Settings>): string {
  const names = [...new Set(Object.values(services).flatMap(Object.keys))]
  const settings = names.map((name) => ({ name, by: holdersOf(services, name) }))
  const shared = settings.filter(({ by }) => by.length > 1)
  const own = Object.keys(services).map((service) => ({
    service,
    settings: settings.filter(({ by }) => by.length === 1 && by[0]!.service === service),
  }))
  return [
    '## Several services',
    table(
      shared.map(({ name, by }) => [`\`${name}\``, servicesOf(by, services), ...cells(by)]),
      'Services',
    ),
    ...own
      .filter(({ settings }) => settings.length > 0)
      .flatMap(({ service, settings }) => [
        `## ${service[0]!.toUpperCase()}${service.slice(1)}`,
        table(settings.map(({ name, by }) => [`\`${name}\``, ...cells(by)])),
      ]),
  ].join('\n\n')
}

interface Holder {
  service: string
  setting: DescribedSetting<unknown>
}

function holdersOf(services: Record<string, Settings>, name: string): Holder[] {
  return Object.entries(services).flatMap(([service, { [name]: setting }]) => (setting ? [{ service, setting }] : []))
}

function table(rows: string[][], second?: string): string {
  const head = ['Setting', ...(second ? [second] : []), 'Meaning', 'Values', 'Default']
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

function servicesOf(holders: Holder[], services: Record<string, Settings>): string {
  return holders.length === Object.keys(services).length ? 'all' : holders.map(({ service }) => service).join(', ')
}

function cells(holders: Holder[]): string[] {
  const { description, accepts = 'text' } = holders[0]!.setting
  for (const { service, setting } of holders)
    if (setting.description !== description) throw new Error(`${service} describes a setting otherwise: ${description}`)
  const defaults = holders.map(({ service, setting }) => ({ service, shown: shownDefault(setting) }))
  const common = defaults.at(-1)!.shown
  const others = defaults.filter(({ shown }) => shown !== common)
  return [description, accepts, [common, ...others.map(({ service, shown }) => `${service}: ${shown}`)].join('; ')]
}

function shownDefault(setting: DescribedSetting<unknown>): string {
  if (!('default' in setting)) return 'required'
  const value = setting.default
  if (typeof value === 'number') return `${value}${inUnits(value)}`
  return typeof value === 'string' && value !== '' ? `\`${value}\`` : 'none'
}

/** Bytes are read more easily in these. */
function inUnits(value: number): string {
  if (value > 0 && value % 1024 ** 2 === 0) return ` (${value / 1024 ** 2} MiB)`
  return value > 0 && value % 1024 === 0 ? ` (${value / 1024} KiB)` : ''
}
