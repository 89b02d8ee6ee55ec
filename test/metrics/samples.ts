/** Numbers by their series, as Prometheus would write it without what names the process: `name{label="value"}`. */
export type Samples = Map<string, number>

/** Reads the text that Prometheus reads. */
export function readSamples(text: string): Samples {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const [, name = '', labels = '', value] = /^([a-z0-9_]+)(?:\{(.*)\})? (\S+)$/i.exec(line)!
      const own = [...labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)]
        .filter(([, label]) => !label!.startsWith('otel_scope'))
        .map(([pair]) => pair)
      return [own.length > 0 ? `${name}{${own.toSorted().join(',')}}` : name, Number(value)]
    }),
  )
}

/** What has grown, by how much, among the series of this name. */
export function grown(before: Samples, after: Samples, name: string): Record<string, number> {
  const own = [...after].filter(([series]) => series.split('{')[0] === name)
  const all = own.map(([series, value]) => [series.slice(name.length), value - (before.get(series) ?? 0)] as const)
  return Object.fromEntries(all.filter(([, more]) => more !== 0))
}

/** The labels of a series as `grown` writes them. */
export function series(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  return `{${pairs.toSorted().join(',')}}`
}
