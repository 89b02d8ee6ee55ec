import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../api/errors.ts'
import { changedOf, type Conflict, linesOf, merge, type Values } from './merge.ts'
import { faultsOf, type Rules } from './rules.ts'
import { language } from '../texts/texts.ts'
import { sayFault } from './say-fault.ts'
import { useUnsaved } from './unsaved.tsx'

/** An object as it is now, and who changed it last. */
export interface Theirs<V extends Values> {
  values: V
  sequence: string
  by: string
  at: string
}

export interface FormOptions<V extends Values> {
  /** What the object was when the form was opened. Of a new object: what the fields begin with. */
  opened: V
  /** Undefined: the form makes an object, and sends every field. */
  sequence?: string
  rules: Rules
  /** The fields that are lists: each line has to obey the rules. */
  lists?: (keyof V & string)[]
  /** Fields whose rules do not count as long as others have these values. */
  skip?: (name: keyof V & string, values: V) => boolean
  /** Sends the changed fields alone. Returns the sequence of the object afterwards. */
  send: (changed: Partial<V>, options: { sequence?: string | undefined; key: string }) => Promise<string | undefined>
  /** Reads the object again, where it has changed meanwhile. */
  theirs?: () => Promise<Theirs<V>>
}

export interface Form<V extends Values> {
  values: V
  set: (name: keyof V & string, value: string) => void
  faults: Partial<Record<string, string>>
  changes: number
  isBusy: boolean
  error: Error | undefined
  /** Fields that both have changed: each has to be chosen. */
  conflict: { fields: Conflict[]; by: string; at: string } | undefined
  /** Fields that somebody else changed meanwhile, and that were taken over. */
  adopted: string[]
  choose: (name: string, value: string) => void
  submit: () => Promise<void>
  discard: () => void
}

/** The state of a form, from opened to saved. */
export function useForm<V extends Values>(options: FormOptions<V>): Form<V> {
  const { rules, lists = [], skip, send, theirs } = options
  const [base, setBase] = useState({ values: options.opened, sequence: options.sequence })
  const [edited, setEdited] = useState<Partial<V>>({})
  const [faults, setFaults] = useState<Form<V>['faults']>({})
  const [error, setError] = useState<Error>()
  const [conflict, setConflict] = useState<Form<V>['conflict']>()
  const [adopted, setAdopted] = useState<string[]>([])
  const [isBusy, setBusy] = useState(false)
  // The same content has the same key, so that a lost answer or a double click makes one object.
  const key = useRef<{ content: string; key: string }>()
  const values = { ...base.values, ...edited }
  const changed = changedOf(base.values, edited)
  const changes = Object.keys(changed).length
  const unsaved = useUnsaved(changes > 0)

  // Read again, where nobody is typing.
  useEffect(() => {
    if (changes === 0 && !conflict) setBase({ values: options.opened, sequence: options.sequence })
  }, [options.sequence])

  function set(name: keyof V & string, value: string) {
    setEdited((before) => ({ ...before, [name]: value }))
    // A mark goes as soon as the text is right; a new one comes with the next try.
    const left = lists.includes(name) ? [] : faultsOf(rules[name], value)
    if (left.length > 0) return
    setFaults((before) => Object.fromEntries(Object.entries(before).filter(([field]) => nameOf(field) !== name)))
  }

  function keyOf(content: object) {
    const text = JSON.stringify(content)
    if (key.current?.content !== text) key.current = { content: text, key: crypto.randomUUID() }
    return key.current.key
  }

  function faultsIn(name: string, value: string): [string, string][] {
    if (skip?.(name, values)) return []
    const said = (text: string) => faultsOf(rules[name], text).map((fault) => sayFault(fault, language))
    if (!lists.includes(name)) return said(value).map((says) => [name, says])
    return linesOf(value).flatMap((line, at) => said(line).map((says) => [`${name}[${at}]`, says]))
  }

  async function submit() {
    if (isBusy || conflict) return
    const isNew = base.sequence === undefined
    const sent = isNew ? values : changed
    const found = Object.entries(sent).flatMap(([name, value = '']) => faultsIn(name, value))
    setFaults(Object.fromEntries(found.toReversed()))
    if (found.length > 0) return focusOn(found[0]![0])
    if (!isNew && changes === 0) return
    setBusy(true)
    setError(undefined)
    try {
      await sendOver(sent, base.sequence)
    } catch (cause) {
      refused(cause as Error)
    } finally {
      setBusy(false)
    }
  }

  async function sendOver(sent: Partial<V>, sequence: string | undefined): Promise<void> {
    try {
      unsaved.release()
      const next = await send(sent, { sequence, key: keyOf({ sent, sequence }) })
      setBase((before) => ({ values: { ...before.values, ...sent }, sequence: next ?? sequence }))
      setEdited({})
      setAdopted([])
    } catch (cause) {
      unsaved.hold()
      if (!(cause instanceof ApiError && cause.reason === 'SEQUENCE_MISMATCH' && theirs)) throw cause
      await compare(await theirs())
    }
  }

  async function compare(now: Theirs<V>) {
    const { conflicts, adopted, mine } = merge(base.values, now.values, edited)
    setAdopted(adopted)
    // Something else of the object has changed, which this form does not show.
    if (conflicts.length === 0 && adopted.length === 0) return sendOver(mine, now.sequence)
    setBase({ values: now.values, sequence: now.sequence })
    setEdited(mine)
    if (conflicts.length > 0) setConflict({ fields: conflicts, by: now.by, at: now.at })
  }

  function choose(name: string, value: string) {
    setEdited((before) => ({ ...before, [name]: value }))
    const left = conflict?.fields.filter((field) => field.name !== name) ?? []
    setConflict(conflict && left.length > 0 ? { ...conflict, fields: left } : undefined)
  }

  function refused(cause: Error) {
    const named = cause instanceof ApiError ? cause.violations.filter(({ field }) => nameOf(field) in values) : []
    if (named.length === 0) return setError(cause)
    setFaults(Object.fromEntries(named.map(({ field, description }) => [field, sayFault(description, language)])))
    focusOn(named[0]!.field)
  }

  function discard() {
    setEdited({})
    setFaults({})
    setError(undefined)
    setConflict(undefined)
    setAdopted([])
  }

  return { values, set, faults, changes, isBusy, error, conflict, adopted, choose, submit, discard }
}

// The third one of a list is `redirectUris[2]`.
function nameOf(field: string): string {
  return field.replace(/\[\d+\]$/, '')
}

function focusOn(name: string) {
  requestAnimationFrame(() => document.querySelector<HTMLElement>(`form [name="${CSS.escape(name)}"]`)?.focus())
}
