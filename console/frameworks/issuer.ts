import { useQuery } from '@tanstack/preact-query'

/** The issuer, as applications have to spell it. The console may be at another host. */
export function useIssuer(): string {
  const { data } = useQuery({
    queryKey: ['issuer'],
    staleTime: Infinity,
    queryFn: async () => {
      const answer = await fetch('/.well-known/openid-configuration')
      return ((await answer.json()) as { issuer: string }).issuer
    },
  })
  return data ?? ''
}
