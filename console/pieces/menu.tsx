import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'

/** A button that shows further buttons. */
export function Menu({
  label,
  children,
  face = '⋯',
}: {
  label: string
  children: ComponentChildren
  face?: ComponentChildren
}) {
  const id = useId()
  const ref = useRef<HTMLDivElement>(null)
  return (
    <>
      <button type="button" class="menu-button" popovertarget={id} aria-label={label}>
        {face}
      </button>
      <div ref={ref} id={id} popover="auto" class="menu" onClick={() => ref.current?.hidePopover()}>
        {children}
      </div>
    </>
  )
}
