import { Link, toPath } from '../router.tsx'
import { mayTry } from '../session.tsx'
import { Head } from '../ui/basics.tsx'
import { Offered } from './offered.tsx'

export function TryIt() {
  return (
    <>
      <Head
        title="Try it"
        about="Be a platform for a while: provision, bind, see the credentials, and clean up again. It uses the OSB API, as every platform does."
      />
      {!mayTry.value && <NoPlatform />}
      <Offered>
        {services => (
          <div class="services">
            {services.map(({ id, name, description, metadata, tags = [], plans }) => (
              <article key={id} class="card service">
                <h2>
                  <Link to={toPath('try', id)}>{metadata?.displayName ?? name}</Link>
                </h2>
                <p class="muted">{description}</p>
                <p class="small">
                  {plans.length} {plans.length === 1 ? 'plan' : 'plans'}: {plans.map(plan => plan.name).join(', ')}
                </p>
                <p class="tags">
                  {tags.map(tag => (
                    <span key={tag} class="tag">
                      {tag}
                    </span>
                  ))}
                </p>
              </article>
            ))}
          </div>
        )}
      </Offered>
    </>
  )
}

export function NoPlatform() {
  return (
    <p class="note warn">
      Your user has no role platform, so the broker refuses you the OSB API. Sign in with one that has it, or add it in
      auth.basic[].roles.
    </p>
  )
}
