import { useEffect, useRef, useState } from 'preact/hooks'
import { useSoon } from './use-soon.ts'

interface FilterTextProps {
  label: string
  value: string
  onChange: (text: string) => void
}

/** A text to find by, which the address has as soon as typing pauses. */
export function FilterText({ label, value, onChange }: FilterTextProps) {
  const [typed, setTyped] = useState(value)
  const soon = useSoon(typed)
  const told = useRef(value)
  useEffect(() => {
    if (soon === told.current) return
    told.current = soon
    onChange(soon)
  }, [soon])
  // Another address, such as after Back or "Clear filters"; but not the one that typing has led to.
  useEffect(() => {
    if (value === told.current) return
    told.current = value
    setTyped(value)
  }, [value])
  return (
    <input
      type="search"
      class="filter"
      aria-label={label}
      placeholder={label}
      maxLength={200}
      value={typed}
      onInput={(event) => setTyped(event.currentTarget.value)}
    />
  )
}

interface FilterChoiceProps {
  label: string
  value: string
  options: Record<string, string>
  onChange: (value: string) => void
}

/** One of a few values. The first says that any will do. */
export function FilterChoice({ label, value, options, onChange }: FilterChoiceProps) {
  return (
    <select
      aria-label={label}
      class={value ? 'filter set' : 'filter'}
      value={value}
      onChange={(e) => onChange(e.currentTarget.value)}
    >
      {Object.entries(options).map(([key, text]) => (
        <option value={key}>{text}</option>
      ))}
    </select>
  )
}
