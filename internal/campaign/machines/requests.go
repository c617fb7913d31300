package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"countersign"
	"countersign/internal/campaign/truth"
)

// request is a case that somebody asks for until it is answered, each time with the same key.
type request struct {
	path, body string
	want       truth.Case
}

func (p plan) payments() (all []truth.Payment) {
	for i := range p.Cases / 2 {
		story := truth.FailedTransfer
		if i%5 == 4 {
			story = truth.SettledTransfer // which the model gets wrong, so that nothing may be posted
		}
		all = append(all, truth.Payment{Number: i, Story: story})
	}
	return all
}

// requests are those of both desks, in turn. No shop is connected, so that every chargeback ends with a person.
func (p plan) requests() (all []request) {
	for i, payment := range p.payments() {
		c := truth.Case{Subject: payment.ID(), Key: "key-" + payment.ID(), Status: countersign.Closed, Outcome: countersign.Resolved, HandledBy: countersign.ByPolicy, Fix: payment.Owed()}
		if c.Fix == nil {
			c.Status, c.Outcome, c.HandledBy = countersign.InReview, "", ""
		}
		order := fmt.Sprintf("O%d", i)
		all = append(all,
			request{"/disputes", fmt.Sprintf(`{"transaction_id": %q, "reason": %q, "notes": "Money left."}`, payment.ID(), payment.Reason()), c},
			request{"/chargebacks", fmt.Sprintf(`{"order_id": %q, "network": "visa", "reason_code": "13.1"}`, order),
				truth.Case{Subject: order, Key: "key-" + order, Status: countersign.InReview}})
	}
	return all
}

// openAll opens every case through whichever serve answers, several at a time.
func (f *fleet) openAll(ctx context.Context, requests []request) error {
	next, failed := make(chan int), make(chan error, 1)
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for i := range next {
				id, err := f.open(ctx, i, requests[i])
				if err != nil {
					select {
					case failed <- err:
					default:
					}
				}
				requests[i].want.ID = id
				f.opened.Add(1)
			}
		})
	}
	for i := range requests {
		next <- i
	}
	close(next)
	clients.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// open asks until somebody answers. Whoever was killed in the middle of it may have done it or not.
func (f *fleet) open(ctx context.Context, i int, r request) (countersign.CaseID, error) {
	for try := 0; ctx.Err() == nil; try++ {
		serve := f.serves[(i+try)%len(f.serves)]
		if url := f.address(serve, try > 0); url != "" {
			id, status, err := f.post(ctx, url, r)
			switch {
			case err == nil && (status == http.StatusAccepted || status == http.StatusOK):
				return id, nil
			case err == nil && status < 500:
				return "", fmt.Errorf("POST %s %s answered %d", r.path, r.body, status)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	return "", ctx.Err()
}

func (f *fleet) post(ctx context.Context, url string, r request) (countersign.CaseID, int, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/api/v1"+r.path, bytes.NewReader([]byte(r.body)))
	if err != nil {
		return "", 0, err
	}
	req.Header.Set("Authorization", "Bearer "+f.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", r.want.Key)
	res, err := f.client.Do(req)
	if err != nil {
		return "", 0, err
	}
	defer res.Body.Close()
	var answered struct{ ID countersign.CaseID }
	err = json.NewDecoder(res.Body).Decode(&answered)
	return answered.ID, res.StatusCode, err
}
