import { useId } from 'preact/hooks'
import { linesOf, type Values } from './merge.ts'
import type { Form } from './use-form.ts'

interface ChecksProps<V extends Values> {
  form: Form<V>
  name: keyof V & string
  label: string
  /** The words of each value. */
  options: Record<string, string>
  hint?: string
}

/** Several of a few values. In the form they are one text, a line for each. */
export function Checks<V extends Values>({ form, name, label, options, hint }: ChecksProps<V>) {
  const id = useId()
  const chosen = linesOf(form.values[name] ?? '')
  const fault = form.faults[name]
  const toggle = (value: string, isOn: boolean) =>
    form.set(
      name,
      Object.keys(options)
        .filter((key) => (key === value ? isOn : chosen.includes(key)))
        .join('\n'),
    )
  return (
    <fieldset class="checks" aria-describedby={fault || hint ? `${id}-notes` : undefined}>
      <legend>{label}</legend>
      {Object.entries(options).map(([value, text]) => (
        <label key={value} class="box">
          <input
            type="checkbox"
            name={name}
            aria-invalid={fault !== undefined}
            checked={chosen.includes(value)}
            onChange={(event) => toggle(value, event.currentTarget.checked)}
          />{' '}
          {text}
        </label>
      ))}
      <div id={`${id}-notes`}>
        {fault && (
          <span class="fault">
            {label} {fault}.{' '}
          </span>
        )}
        {hint && <small>{hint}</small>}
      </div>
    </fieldset>
  )
}
