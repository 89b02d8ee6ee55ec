import type { ServiceName } from '../../deploy/local/service-environment.ts'

/** A metric as processes expose it. */
export interface Exposed {
  name: string
  kind: string
  unit: string
  help: string
  /** Its labels, each with all values that were seen. */
  labels: Map<string, Set<string>>
  /** The services whose processes have it. */
  services: Set<ServiceName>
}

/** Reads the text that Prometheus reads, and adds it to `known`. */
export function readExposition(text: string, service: ServiceName, known: Map<string, Exposed>): void {
  const helps = new Map<string, Partial<Exposed>>()
  for (const line of text.split('\n')) {
    const [, what, name, rest = ''] = /^# (HELP|TYPE|UNIT) (\S+) ?(.*)$/.exec(line) ?? []
    if (what === 'HELP') helps.set(name!, { ...helps.get(name!), help: rest })
    if (what === 'UNIT') helps.set(name!, { ...helps.get(name!), unit: rest })
    if (what === 'TYPE' && name !== 'target_info')
      known.set(name!, {
        labels: new Map(),
        services: new Set(),
        ...known.get(name!),
        ...helps.get(name!),
        name: name!,
        kind: rest,
      } as Exposed)
    if (line === '' || line.startsWith('#')) continue
    const [, sample = '', labels = ''] = /^([a-z0-9_]+)(?:\{(.*)\})? \S+$/i.exec(line) ?? []
    const metric = known.get(sample) ?? known.get(sample.replace(/_(bucket|sum|count)$/, ''))
    if (!metric) continue
    metric.services.add(service)
    for (const [, label, value] of labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      if (label === 'le' || label!.startsWith('otel_scope')) continue
      metric.labels.set(label!, (metric.labels.get(label!) ?? new Set()).add(value!))
    }
  }
}

/** The table of docs/operations.md. */
export function tableOf(known: Iterable<Exposed>, order: readonly ServiceName[]): string {
  const rows = [...known]
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .map(({ name, kind, unit, help, labels, services }) => [
      `\`${name}\``,
      unit === '1' ? kind : `${kind}, ${unit.replace(/[{}]/g, '')}`,
      [...labels.keys()].map((label) => `\`${label}\``).join(', '),
      services.size === order.length ? 'all' : order.filter((service) => services.has(service)).join(', '),
      help,
    ])
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [
    line(['Metric', 'Kind', 'Labels', 'Of', 'What it measures']),
    '|---|---|---|---|---|',
    ...rows.map(line),
  ].join('\n')
}
