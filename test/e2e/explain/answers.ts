// What the parts of an explanation are named, without their prefixes.

export const kinds = (list: { kind: string }[] = []) => list.map(({ kind }) => kind.replace(/^[A-Z]+_KIND_/, ''))

export const faults = ({ faults: all = [] }: { faults?: string[] }) =>
  all.map((fault) => fault.replace('GROUND_FAULT_', ''))

export const effects = ({ events = [] }: { events?: { type: string; effect?: string }[] }) =>
  events.map(({ type, effect = '' }) => `${type} ${effect.replace('EVENT_EFFECT_', '')}`.trim())
