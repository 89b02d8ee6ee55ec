import { useState } from 'preact/hooks'
import { common } from '../texts/common.ts'

/** Copies a text. The label says which one, where a page has several. */
export function CopyButton({ text, label }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
  }
  return (
    <button type="button" aria-label={label} onClick={() => void copy()} onBlur={() => setCopied(false)}>
      <span aria-live="polite">{isCopied ? common.copied : common.copy}</span>
    </button>
  )
}
