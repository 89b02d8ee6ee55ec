import { useId } from 'preact/hooks'
import type { Values } from './merge.ts'
import type { Form } from './use-form.ts'

interface AreaProps<V extends Values> {
  form: Form<V>
  name: keyof V & string
  label: string
  hint?: string
}

/** A text of several lines. */
export function Area<V extends Values>({ form, name, label, hint }: AreaProps<V>) {
  const id = useId()
  const fault = form.faults[name]
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        name={name}
        rows={5}
        spellcheck={false}
        aria-invalid={fault !== undefined}
        aria-describedby={fault || hint ? `${id}-notes` : undefined}
        value={form.values[name]}
        onInput={(event) => form.set(name, event.currentTarget.value)}
      />
      <div id={`${id}-notes`}>
        {fault && <span class="fault">{fault}. </span>}
        {hint && <small>{hint}</small>}
      </div>
    </div>
  )
}
