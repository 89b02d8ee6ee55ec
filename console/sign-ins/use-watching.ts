import { useEffect, useState } from 'preact/hooks'

/**
 * For what is read again and again while somebody looks, since no stream tells of it: a call keeps the session of the
 * console alive, so after ten minutes without a touch it ends. Returns whether it goes on, and how to go on.
 */
export function useWatching(): [boolean, () => void] {
  const [since, setSince] = useState(Date.now)
  const [isWatching, setWatching] = useState(true)
  const again = () => {
    setWatching(true)
    setSince(Date.now())
  }
  useEffect(() => {
    const timer = setTimeout(() => setWatching(false), 10 * 60_000)
    return () => clearTimeout(timer)
  }, [since])
  return [isWatching, again]
}
