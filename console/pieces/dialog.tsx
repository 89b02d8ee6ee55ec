import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

interface DialogProps {
  title: string
  /** Esc, and a click beside it. */
  onClose: () => void
  children: ComponentChildren
  /** It stays until the person has decided. */
  firm?: boolean
  /** The title is only for those who hear it. */
  unseen?: boolean
}

/** A dialog of the browser: it holds the focus, and gives it back. */
export function Dialog({ title, onClose, children, firm = false, unseen = false }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useEffect(() => {
    const before = document.activeElement
    ref.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        if (!firm) onClose()
      }}
      onClick={(event) => {
        if (event.target === ref.current && !firm) onClose()
      }}
    >
      <div class="inside">
        <h2 id={heading} class={unseen ? 'unseen' : undefined}>
          {title}
        </h2>
        {children}
      </div>
    </dialog>
  )
}
