import { useEffect, useState } from 'preact/hooks'

/** The value once it has stayed the same for 150 ms: a search asks after a pause in typing. */
export function useSoon<T>(value: T): T {
  const [soon, setSoon] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSoon(value), 150)
    return () => clearTimeout(timer)
  }, [value])
  return soon
}
