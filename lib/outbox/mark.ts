import { subjectOf } from './publish.ts'
import type { StoredEvent } from '../events/stored-event.ts'
import type { NotedMark, Published } from './outbox-rows.ts'

/** The last place that the stream gave to this service, and the subject of the event there, where that is known. */
export interface Place {
  sequence: number | undefined
  subject: string | undefined
}

/** The last place by the stored mark, and by `taken`, which the stream took of the page behind it. */
export function lastMark(service: string, published: Published, taken: { event: StoredEvent; seq: number }[]): Place {
  const { stream_mark: mark, generation } = published
  const sequence = Number(published.stream_sequence ?? 0)
  const newest = newestOf(taken)
  if (newest && newest.seq > sequence) return { sequence: newest.seq, subject: subjectOf(service, newest.event) }
  const isNamed = mark?.generation === generation && mark.sequence === sequence
  return { sequence: sequence || undefined, subject: isNamed ? mark.subject : undefined }
}

/** Whatever of these has the highest place in the stream. */
export function newestOf<T extends { seq: number }>(added: T[]): T | undefined {
  return added.reduce<T | undefined>((newest, one) => (newest && newest.seq > one.seq ? newest : one), undefined)
}

/** The mark of an event at this place, as the table has it. Null where an earlier page had a higher place. */
export function writeMark(service: string, published: Published, event: StoredEvent, sequence: number): string | null {
  if (sequence < Number(published.stream_sequence ?? 0)) return null
  const mark: NotedMark = { generation: published.generation, sequence, subject: subjectOf(service, event) }
  return JSON.stringify(mark)
}
