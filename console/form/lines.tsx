import { useId } from 'preact/hooks'
import { common } from '../texts/common.ts'
import { texts } from '../texts/texts.ts'
import type { Values } from './merge.ts'
import { linesOf } from './merge.ts'
import type { Form } from './use-form.ts'

const t = texts(
  { nth: (label: string, at: number) => `${label}, ${at}`, another: 'Add another' },
  { nth: (label, at) => `${label}, ${at}`, another: 'Weitere hinzufügen' },
)

interface LinesProps<V extends Values> {
  form: Form<V>
  name: keyof V & string
  label: string
  hint?: string
  placeholder?: string
}

/** A list of texts, an input for each, and an empty one for the next. In the form it is one text, a line for each. */
export function Lines<V extends Values>({ form, name, label, hint, placeholder = t.another }: LinesProps<V>) {
  const id = useId()
  const value = form.values[name] ?? ''
  const lines = value === '' ? [] : value.split('\n')
  const set = (next: string[]) => form.set(name, next.join('\n'))
  const tidy = () => {
    const kept = linesOf(value)
    if (kept.length !== lines.length) set(kept)
  }
  const paste = (at: number) => (event: ClipboardEvent) => {
    const pasted = linesOf(event.clipboardData?.getData('text') ?? '')
    if (pasted.length < 2) return
    event.preventDefault()
    set([...lines.slice(0, at), ...pasted, ...lines.slice(at + 1)])
  }
  return (
    <div class="field" role="group" aria-labelledby={id} onFocusOut={tidy}>
      <span class="label" id={id}>
        {label}
      </span>
      {[...lines, ''].map((line, at) => {
        const fault = form.faults[`${name}[${at}]`] ?? (at === 0 ? form.faults[name] : undefined)
        const note = `${id}-${at}`
        return (
          <div key={at}>
            <div class="with-button">
              <input
                name={`${name}[${at}]`}
                aria-label={t.nth(label, at + 1)}
                aria-invalid={fault !== undefined}
                aria-describedby={fault ? note : undefined}
                autocomplete="off"
                spellcheck={false}
                placeholder={at === lines.length ? placeholder : undefined}
                value={line}
                onInput={(event) => set([...lines.slice(0, at), event.currentTarget.value, ...lines.slice(at + 1)])}
                onPaste={paste(at)}
              />
              {at < lines.length && (
                <button
                  type="button"
                  class="plain"
                  aria-label={`${common.remove}: ${line}`}
                  onClick={() => set(lines.filter((_, index) => index !== at))}
                >
                  ✕
                </button>
              )}
            </div>
            {fault && (
              <span class="fault" id={note}>
                {label} {fault}.
              </span>
            )}
          </div>
        )
      })}
      {form.adopted.includes(name) && <small class="adopted">{common.adopted}</small>}
      {hint && <small>{hint}</small>}
    </div>
  )
}
