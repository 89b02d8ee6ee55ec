import { useId } from 'preact/hooks'
import { common } from '../texts/common.ts'
import type { Values } from './merge.ts'
import type { Form } from './use-form.ts'

interface CheckProps<V extends Values> {
  form: Form<V>
  name: keyof V & string
  label: string
  hint?: string
}

/** Yes or no: `true` or nothing in the form. */
export function Check<V extends Values>({ form, name, label, hint }: CheckProps<V>) {
  const id = useId()
  const fault = form.faults[name]
  return (
    <div class="check">
      <input
        id={id}
        name={name}
        type="checkbox"
        aria-invalid={fault !== undefined}
        aria-describedby={fault || hint ? `${id}-notes` : undefined}
        checked={form.values[name] === 'true'}
        onChange={(event) => form.set(name, event.currentTarget.checked ? 'true' : '')}
      />
      <label for={id}>{label}</label>
      <div id={`${id}-notes`}>
        {fault && (
          <span class="fault">
            {label} {fault}.{' '}
          </span>
        )}
        {form.adopted.includes(name) && <small class="adopted">{common.adopted} </small>}
        {hint && <small>{hint}</small>}
      </div>
    </div>
  )
}
