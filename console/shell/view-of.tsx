import { Suspense } from 'preact/compat'
import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { useMay } from '../api/queries.ts'
import { Forbidden } from '../pieces/problem.tsx'
import type { ViewProps } from '../address/place.ts'
import type { View } from './views.ts'

/** Shows a view, once its file is there; or which permission it needs. */
export function ViewOf({ view, params }: ViewProps & { view: View }) {
  const may = useMay(view.permission)
  const ref = useFocusOnHeading()
  if (may === false) return <Forbidden permission={view.permission} />
  const Component = view.component
  return (
    <div ref={ref}>
      <Suspense fallback={null}>
        <Component params={params} />
      </Suspense>
    </div>
  )
}

// A reader of the screen hears where they are. The first page has its own beginning.
function useFocusOnHeading() {
  const ref = useRef<HTMLDivElement>(null)
  const [path] = useLocation()
  const isFirst = useRef(true)
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false
      return
    }
    const heading = ref.current?.querySelector('h1')
    if (!heading || document.querySelector('dialog[open]')) return
    heading.tabIndex = -1
    heading.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [path])
  return ref
}
